import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { recordRemovals } from '../../../shared/stores/crawl/removals.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { watchDeletes } from '../../support/fixtures/watch-deletes.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

function sweep(mayContinue: () => boolean = () => true): Promise<void> {
  const { signal } = new AbortController();
  return sweepRetention({
    pool: db.pool,
    metrics: createMetrics(),
    signal,
    mayContinue: () => Promise.resolve(mayContinue()),
  });
}

async function count(from: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${from}`);
  return rows[0]!.n;
}

async function fillMatches(monitorId: string, rows: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT $1, n, 't1_x' || n, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'none', 'none'
       FROM generate_series(1, $2::int) AS n`,
    [monitorId, rows],
  );
  await db.pool.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = $1', [monitorId, rows]);
}

test('deletes rows of every table in statements of at most 5,000 rows', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 12_000);
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT $1, n, a, service_now(), 1, 'generic', 'h', 200, 'delivered'
       FROM generate_series(1, 4000) AS n, generate_series(1, 3) AS a`,
    [id],
  );
  await db.pool.query(
    `INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
     SELECT 't1_x' || n, 'comment', 'p', 's', 'a', 't', 'b', 'l', false, service_now(), service_now() + interval '33 days'
       FROM generate_series(1, 12000) AS n`,
  );
  const ids = Array.from({ length: 12_000 }, (_, number) => `t1_${number}`);
  await recordRemovals(
    db.pool,
    ids,
    ids.map(() => new Date().toISOString()),
  );
  await db.pool.query(
    `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer)
     SELECT 'acc_a', 'r', n, '', '' FROM generate_series(1, 12000) AS n`,
  );
  await db.pool.query(
    `INSERT INTO signups (token_hash, email, mailbox, code_hash, expires_at)
     SELECT sha256(n::text::bytea), 'e', 'm', '', service_now() FROM generate_series(1, 12000) AS n`,
  );
  await db.pool.query(
    `INSERT INTO recent_uses (name, times, kept_until)
     SELECT n, ARRAY[service_now()], service_now() FROM generate_series(1, 12000) AS n`,
  );
  const tables = [
    'matches',
    'delivery_attempts',
    'matched_items',
    'removed_things',
    'idempotency_keys',
    'signups',
    'recent_uses',
  ];
  const watched = await Promise.all(tables.map((table) => watchDeletes(db.pool, table)));
  await db.setShift('92 days');
  await sweep();
  for (const deletes of watched) expect(await deletes()).toEqual([5_000, 5_000, 2_000]);
});

test.each([
  { table: 'crawl_gaps', days: 90, columns: '(source, reason, opened_at)', values: `'s', 'r', service_now()` },
  {
    table: 'audit_samples',
    days: 35,
    columns: '(hour, post_id, weight, seen, total)',
    values: 'service_now(), n, 1, 0, 1',
  },
  { table: 'forum_calls', days: 400, columns: '(hour, lane, taken, refused)', values: 'service_now(), n, 1, 0' },
  {
    table: 'coverage_hours',
    days: 400,
    columns: '(hour, archived_rows, coverage, computed_at)',
    values: `service_now() - n * interval '1 microsecond', 0, '{}', service_now()`,
  },
])('keeps $table for $days days, and deletes at most 5,000 of its rows in a statement', async (row) => {
  const { table, days, columns, values } = row;
  await db.pool.query(`INSERT INTO ${table} ${columns} SELECT ${values} FROM generate_series(1, 6000) AS n`);
  const deletes = await watchDeletes(db.pool, table);
  await db.setShift(`${days - 1} days 23 hours`);
  await sweep();
  expect(await deletes()).toEqual([]);
  await db.setShift(`${days} days 1 hour`);
  await sweep();
  expect(await deletes()).toEqual([5_000, 1_000]);
});

test('stops when it loses its lease; the next sweep continues', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 12_000);
  const deletes = await watchDeletes(db.pool, 'matches');
  await db.setShift('31 days');
  let asked = 0;
  await sweep(() => ++asked <= 2);
  expect(await deletes()).toEqual([5_000]);
  await sweep();
  expect(await count('matches')).toBe(0);
});

test('deletes the attempts of a match with the match, not earlier, so that a late resend keeps its history', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 2);
  await db.pool.query(`UPDATE matches SET created_at = created_at + interval '20 days' WHERE seq = 2`);
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT $1, n, 1, service_now(), 1, 'generic', 'h', 200, 'delivered' FROM generate_series(1, 2) AS n`,
    [id],
  );
  await db.setShift('31 days');
  await sweep();
  const { rows } = await db.pool.query('SELECT seq FROM delivery_attempts');
  expect(rows).toEqual([{ seq: 2 }]);
});

test('deletes day counts and old rule versions, and a monitor without matches continues its numbering', async () => {
  const [id] = (await insertMonitors(db.pool, 1, { version: 2 })) as [string];
  await db.pool.query(`INSERT INTO monitor_versions VALUES ($1, 1, wall_now() - interval '1 day')`, [id]);
  const record = async (thingId: string) => {
    const candidate = candidateOf({ monitorId: id, thingId, version: 2 });
    const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate]);
    return matches.map(({ seq }) => seq);
  };
  expect([await record('t1_a'), await record('t1_b')]).toEqual([[1], [2]]);
  await db.setShift('31 days');
  await sweep();
  expect(await count('matches')).toBe(0);
  expect(await count('monitor_days')).toBe(0);
  expect((await db.pool.query('SELECT version FROM monitor_versions')).rows).toEqual([{ version: 2 }]);
  expect(await record('t1_c')).toEqual([3]);
});

test('deletes everything of a deleted monitor but its row, even if its last match expires before its day count', async () => {
  const [deleted, kept] = (await insertMonitors(db.pool, 2)) as [string, string];
  const candidates = [deleted, kept].map((monitorId) => candidateOf({ monitorId, thingId: 't1_a' }));
  await recordBatch({ pool: db.pool, toleranceMs: 0 }, candidates);
  await db.pool.query('INSERT INTO monitor_health (monitor_id, failures) VALUES ($1, 3)', [deleted]);
  await db.pool.query(
    `INSERT INTO monitor_mutes VALUES ('mute_a', $1, 'author', 'ana'), ('mute_b', $2, 'author', 'ana')`,
    [deleted, kept],
  );
  await db.pool.query(`INSERT INTO feed_tokens VALUES ($1, 'a')`, [deleted]);
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [deleted]);
  const left = () =>
    Promise.all(
      [
        'matches',
        'monitor_days',
        'monitor_counters',
        'monitor_versions',
        'monitor_states',
        'monitor_health',
        'monitor_mutes',
        'feed_tokens',
      ].map((table) => count(`${table} WHERE monitor_id = '${deleted}'`)),
    );
  await sweep();
  expect(await left(), 'it stays while it has matches').toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  // The match is over 30 days old, but its day count is not.
  await db.setShift('30 days 00:00:05');
  await sweep();
  await db.setShift('32 days');
  await sweep();
  expect(await left()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await count(`monitor_counters WHERE monitor_id = '${kept}'`)).toBe(1);
  expect(await count(`monitor_mutes WHERE monitor_id = '${kept}'`)).toBe(1);
});

test('clears name, rule and webhook in the row of a deleted monitor without matches', async () => {
  const setup = { webhookUrl: 'https://hooks.example.com/secret', status: 'deleted' };
  const [forgotten, remembered] = (await insertMonitors(db.pool, 2, setup)) as [string, string];
  await db.pool.query(
    `UPDATE monitors SET exclude = '{iron}', subreddits = '{metals}', refinements = '{"authors": ["ana"]}', webhook_secret = 'sealed',
       previous_webhook_secret = 'sealed', previous_secret_until = service_now()`,
  );
  await fillMatches(remembered, 1);
  const rowOf = async (id: string) =>
    (await db.pool.query('SELECT * FROM monitors WHERE id = $1', [id])).rows[0] as object;
  const before = [await rowOf(forgotten), await rowOf(remembered)];
  await sweep();
  expect([await rowOf(forgotten), await rowOf(remembered)]).toEqual([
    {
      ...before[0],
      name: '',
      keywords: [],
      exclude: [],
      subreddits: [],
      refinements: null,
      webhook_url: null,
      webhook_kind: null,
      webhook_secret: Buffer.of(),
      previous_webhook_secret: null,
      previous_secret_until: null,
    },
    before[1],
  ]);
});

test('deletes idempotency keys after 24 hours', async () => {
  const keep = (key: string, age: string) =>
    db.pool.query(
      `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer, created_at)
       VALUES ('acc_a', 'POST /v1/monitors', $1, '', '', service_now() - $2::interval)`,
      [key, age],
    );
  await keep('old', '24 hours 1 second');
  await keep('young', '23 hours 59 minutes');
  await sweep();
  expect((await db.pool.query('SELECT key FROM idempotency_keys')).rows).toEqual([{ key: 'young' }]);
});

test('deletes sign-ups an hour after their code expired, and uses of limits when none of them counts any more', async () => {
  await db.pool.query(
    `INSERT INTO signups (token_hash, email, mailbox, code_hash, expires_at)
     SELECT name::bytea, name, 'm', '', service_now() - age
     FROM (VALUES ('old', interval '61 minutes'), ('young', interval '59 minutes')) AS given (name, age)`,
  );
  await db.pool.query(
    `INSERT INTO recent_uses (name, times, kept_until)
     SELECT name, ARRAY[service_now()], service_now() + age
     FROM (VALUES ('old', interval '-1 second'), ('young', interval '1 minute')) AS given (name, age)`,
  );
  await sweep();
  expect((await db.pool.query('SELECT email FROM signups')).rows).toEqual([{ email: 'young' }]);
  expect((await db.pool.query('SELECT name FROM recent_uses')).rows).toEqual([{ name: 'young' }]);
});
