import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { startBiller } from '../../../services/biller/start-biller.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { recordRemovals } from '../../../shared/crawl/crawl-cursors.ts';
import { takeLease } from '../../../shared/maintenance/leases.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { unusedMailer } from '../../support/fakes/unused-mailer.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { SECRET_BOX } from '../../support/fixtures/notices/notice-jobs.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { watchDeletes } from '../../support/fixtures/watch-deletes.ts';

let db: TestDatabase;
let metrics: Metrics;
beforeEach(async () => {
  db = await createTestDatabase();
  metrics = createMetrics();
});
afterEach(() => db.drop());

function sweep(mayContinue: () => boolean = () => true): Promise<void> {
  const { signal } = new AbortController();
  return sweepRetention({ pool: db.pool, metrics, signal, mayContinue: () => Promise.resolve(mayContinue()) });
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

/** One of each of the monitor's first matches. */
async function addAttempts(monitorId: string, matches: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT $1, n, 1, service_now(), 1, 'generic', 'h', 200, 'delivered' FROM generate_series(1, $2::int) AS n`,
    [monitorId, matches],
  );
}

async function record(monitorId: string, ...things: string[]): Promise<number[]> {
  const candidates = things.map((thingId) => candidateOf({ monitorId, thingId }));
  const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, candidates);
  return matches.map(({ seq }) => seq);
}

test('keeps what tells about the crawl for its days, and deletes at most 5,000 of its rows in a statement', async () => {
  const tables = [
    { table: 'crawl_gaps', days: 90, columns: '(source, reason, opened_at)', values: `'s', 'r', service_now()` },
    {
      table: 'lost_records',
      days: 90,
      columns: '(consumer_group, topic, partition, from_offset, to_offset, noticed_at)',
      values: `'g', 't', n, 0, 1, service_now()`,
    },
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
  ];
  for (const { table, days, columns, values } of tables) {
    await db.setShift('0');
    await db.pool.query(`INSERT INTO ${table} ${columns} SELECT ${values} FROM generate_series(1, 6000) AS n`);
    const deletes = await watchDeletes(db.pool, table);
    await db.setShift(`${days - 1} days 23 hours`);
    await sweep();
    expect(await deletes(), table).toEqual([]);
    await db.setShift(`${days} days 1 hour`);
    await sweep();
    expect(await deletes(), table).toEqual([5_000, 1_000]);
  }
});

test('stops when it loses its lease; the next sweep continues', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 6_000);
  const deletes = await watchDeletes(db.pool, 'matches');
  await db.setShift('31 days');
  let asked = 0;
  await sweep(() => ++asked <= 2);
  expect(await deletes()).toEqual([5_000]);
  await sweep();
  expect(await count('matches')).toBe(0);
});

test('deletes matches, attempts and contents after 30 days, keeps newer ones and continues the numbering', async () => {
  const [kept, deleted] = (await insertMonitors(db.pool, 2)) as [string, string];
  await fillMatches(kept, 3);
  await addAttempts(kept, 3);
  await record(deleted, 't1_d');
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [deleted]);
  await recordRemovals(db.pool, ['t1_gone'], [new Date().toISOString()]);

  await sweep();
  expect(await count('matches')).toBe(4);

  await db.setShift('29 days');
  expect(await record(kept, 't1_new')).toEqual([4]);
  await sweep();
  expect(await count('matches')).toBe(5);

  await db.setShift('31 days');
  await sweep();
  const { rows } = await db.pool.query('SELECT monitor_id, seq, thing_id FROM matches');
  expect(rows).toEqual([{ monitor_id: kept, seq: 4, thing_id: 't1_new' }]);
  expect(await count('delivery_attempts')).toBe(0);
  expect(await counted(metrics, 'retention_deleted_rows_total', { table: 'matches' })).toBe(4);
  // The lock row of the deleted monitor is deleted with its last match. That of the other monitor stays.
  expect(await count('monitor_counters')).toBe(1);
  expect(await count('removed_things')).toBe(1);

  await db.setShift('34 days');
  await sweep();
  const contents = await db.pool.query('SELECT thing_id FROM matched_items');
  expect(contents.rows).toEqual([{ thing_id: 't1_new' }]);

  await db.setShift('91 days');
  await sweep();
  expect([await count('matches'), await count('matched_items'), await count('removed_things')]).toEqual([0, 0, 0]);
  expect(await record(kept, 't1_newest')).toEqual([5]);
});

test('deletes the attempts of a match with the match, not earlier, so that a late resend keeps its history', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 2);
  await db.pool.query(`UPDATE matches SET created_at = created_at + interval '20 days' WHERE seq = 2`);
  await addAttempts(id, 2);
  await db.setShift('31 days');
  await sweep();
  const { rows } = await db.pool.query('SELECT seq FROM delivery_attempts');
  expect(rows).toEqual([{ seq: 2 }]);
});

test('deletes old rule versions', async () => {
  const [id] = (await insertMonitors(db.pool, 1, { version: 2 })) as [string];
  await db.pool.query(`INSERT INTO monitor_versions VALUES ($1, 1, wall_now() - interval '1 day')`, [id]);
  await db.setShift('31 days');
  await sweep();
  expect((await db.pool.query('SELECT version FROM monitor_versions')).rows).toEqual([{ version: 2 }]);
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
  await db.pool.query(`INSERT INTO match_marks VALUES ($1, 1, 'irrelevant')`, [deleted]);
  await db.pool.query('INSERT INTO match_positions VALUES ($1, 1)', [deleted]);
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
        'match_marks',
        'match_positions',
        'feed_tokens',
      ].map((table) => count(`${table} WHERE monitor_id = '${deleted}'`)),
    );
  await sweep();
  expect(await left(), 'it stays while it has matches').toEqual(Array.from({ length: 10 }, () => 1));
  // The match is over 30 days old, but its day count is not.
  await db.setShift('30 days 00:00:05');
  await sweep();
  await db.setShift('32 days');
  await sweep();
  expect(await left()).toEqual(Array.from({ length: 10 }, () => 0));
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

test('deletes idempotency keys after a day, sign-ups an hour after their code expired, and uses that count no more', async () => {
  await db.pool.query(
    `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer, created_at)
     SELECT 'acc_a', 'POST /v1/monitors', name, '', '', service_now() - age
     FROM (VALUES ('old', interval '24 hours 1 second'), ('young', interval '23 hours 59 minutes')) AS given (name, age)`,
  );
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
  const { rows } = await db.pool.query(
    'SELECT key AS kept FROM idempotency_keys UNION ALL SELECT email FROM signups UNION ALL SELECT name FROM recent_uses',
  );
  expect(rows).toEqual(Array(3).fill({ kept: 'young' }));
});

test('deletes what is expired of many monitors together, of each from its oldest match on, and keeps the rest', async () => {
  const ids = await insertMonitors(db.pool, 150);
  // 6,000 matches of the first monitor, 20 of each other one. The last two of each are young; a match has two attempts.
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT id, n, 't1_x' || n, 'comment', at, at, at, '{rust}', false, 'none', 'none'
       FROM unnest($1::text[]) WITH ORDINALITY AS monitors (id, place),
         generate_series(1, CASE WHEN place = 1 THEN 6000 ELSE 20 END) AS n,
         LATERAL (SELECT service_now() - CASE WHEN n > CASE WHEN place = 1 THEN 5998 ELSE 18 END
           THEN interval '1 day' ELSE interval '31 days' END AS at) AS time`,
    [ids],
  );
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT monitor_id, seq, n, created_at, 1, 'generic', 'h', 200, 'delivered' FROM matches, generate_series(1, 2) AS n`,
  );
  await db.pool.query(
    'UPDATE monitor_counters c SET last_seq = (SELECT max(seq) FROM matches m WHERE m.monitor_id = c.monitor_id)',
  );
  const watched = await Promise.all(['matches', 'delivery_attempts'].map((table) => watchDeletes(db.pool, table)));
  await sweep();
  const [matches, attempts] = (await Promise.all(watched.map((deletes) => deletes()))) as [number[], number[]];
  expect(Math.max(...matches, ...attempts)).toBeLessThanOrEqual(5_000);
  const sum = (counts: number[]) => counts.reduce((total, n) => total + n, 0);
  expect([sum(matches), sum(attempts)]).toEqual([5_998 + 149 * 18, 2 * (5_998 + 149 * 18)]);
  const kept = await db.pool.query(
    'SELECT monitor_id, array_agg(seq::int ORDER BY seq) AS seqs FROM matches GROUP BY monitor_id ORDER BY monitor_id',
  );
  const seqsOf = (id: string) => (id === ids[0] ? [5_999, 6_000] : [19, 20]);
  expect(kept.rows).toEqual(ids.toSorted().map((id) => ({ monitor_id: id, seqs: seqsOf(id) })));
  expect(await count('delivery_attempts JOIN matches USING (monitor_id, seq)')).toBe(2 * 2 * 150);
  expect(await count('delivery_attempts')).toBe(2 * 2 * 150);
});

test('keeps the threads of today and the two days before', async () => {
  await db.moveToNoon(0);
  await db.pool.query(
    `INSERT INTO monitor_threads (day, monitor_id, post_id)
     SELECT (service_now() AT TIME ZONE 'UTC')::date - ago, 'mon_' || n % 3, n
     FROM generate_series(0, 4) AS ago, generate_series(1, 3000) AS n`,
  );
  await sweep();
  const { rows } = await db.pool.query(
    `SELECT (service_now() AT TIME ZONE 'UTC')::date - day AS ago, count(*) AS threads
     FROM monitor_threads GROUP BY day ORDER BY ago`,
  );
  expect(rows).toEqual([0, 1, 2].map((ago) => ({ ago, threads: 3_000 })));
});

test('the biller sweeps only with the lease, survives a Postgres outage, and releases the lease', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await fillMatches(id, 10);
  await db.setShift('31 days');
  const proxy = await TcpProxy.start(db.url);
  const pool = createPool({ url: proxy.url, name: 'biller', logger: silentLogger(), max: 2 });
  const unexpected: Error[] = [];
  const deps = {
    pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger: silentLogger() }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    mailer: unusedMailer(),
    dashboardUrl: 'http://127.0.0.1:9',
    secretBox: SECRET_BOX,
    metrics: createMetrics(),
    logger: silentLogger(),
    fatal: (error: Error) => void unexpected.push(error),
  };

  await takeLease(db.pool, { name: 'retention', holder: 'another', seconds: 60 });
  const second = startBiller(deps);
  await eventually('it has asked', () => pool.totalCount > 0 && pool.idleCount === pool.totalCount);
  await second.stop();
  expect(await count('matches')).toBe(10);
  expect(await count(`leases WHERE holder = 'another'`)).toBe(1);

  await db.pool.query('DELETE FROM leases');
  const biller = startBiller(deps);
  await eventually('the matches are swept', async () => (await count('matches')) === 0);
  await eventually('spikes are looked for', async () => (await count(`leases WHERE name = 'spikes'`)) === 1);
  await eventually('the ledger is checked', async () => {
    return (await count(`leases WHERE name = 'ledger-check' AND lease_until::time < '00:00:01'`)) === 1;
  });
  await biller.stop();
  // The leases of the daily ledger check and of the hourly look for spikes stay.
  const { rows } = await db.pool.query('SELECT name FROM leases ORDER BY name');
  expect(rows).toEqual([{ name: 'ledger-check' }, { name: 'spikes' }]);

  proxy.goAway();
  await startBiller(deps).stop();
  expect(unexpected).toEqual([]);
  await pool.end();
  await proxy.stop();
});
