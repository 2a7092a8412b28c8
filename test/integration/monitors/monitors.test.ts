import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { monitor as monitorSchema, monitorStats } from '../../../schemas/api/monitors.ts';
import { untilLockWaiters } from '../../support/fixtures/lock-waiters.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi, Reply } from '../../support/fixtures/test-api.ts';
import { readMonitorHistory } from '../../../shared/monitors/monitor-history.ts';
import { readRulesById } from '../../../shared/monitors/monitor-rules.ts';
import { RULE_VERSIONS_PER_DAY } from '../../../shared/monitors/monitors.ts';

const PUBLIC_URL = 'https://hooks.example.com/x';
let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

async function ledger(accountId: string): Promise<unknown[]> {
  const { rows } = await db.pool.query<{ kind: string; amount: number; balance_after: number; reference: string }>(
    'SELECT kind, amount, balance_after, reference FROM ledger_entries WHERE account_id = $1 ORDER BY id',
    [accountId],
  );
  return rows.map((row) => [row.kind, row.amount, row.balance_after, row.reference]);
}

async function stored(id: string): Promise<Record<string, unknown>> {
  const { rows } = await db.pool.query<Record<string, unknown>>('SELECT * FROM monitors WHERE id = $1', [id]);
  return rows[0]!;
}

async function versions(id: string): Promise<number[]> {
  const { rows } = await db.pool.query<{ version: number }>(
    'SELECT version FROM monitor_versions WHERE monitor_id = $1 ORDER BY version',
    [id],
  );
  return rows.map(({ version }) => version);
}

/** Runs `work` and returns the ids of the monitors announced meanwhile. */
async function announced(work: () => Promise<unknown>): Promise<string[]> {
  const client = await db.pool.connect();
  const ids: string[] = [];
  client.on('notification', ({ payload }) => ids.push(payload ?? ''));
  await client.query('LISTEN monitor_changed');
  await work();
  await client.query('SELECT 1');
  await client.query('UNLISTEN *');
  client.release(true);
  return ids;
}

test('create stores the rule as written, charges 10 credits and shows the secret once', async () => {
  const { accountId, apiKey } = await api.account({ credits: 25 });
  const reply = await api.call(apiKey, 'POST', '/v1/monitors', {
    name: '  Rust news ',
    keywords: [' Rust ', 'RUST', '"borrow checker"'],
    exclude: ['game'],
    subreddits: ['r/Rust', '/r/programming', 'rust'],
    comments: false,
    nsfw: true,
    webhook_url: PUBLIC_URL,
  });
  expect(reply.status).toBe(201);
  const monitor = monitorSchema.parse(reply.body.monitor);
  expect(monitor).toMatchObject({
    name: 'Rust news',
    keywords: ['Rust', '"borrow checker"'],
    exclude: ['game'],
    subreddits: ['Rust', 'programming'],
    include_posts: true,
    include_comments: false,
    nsfw: true,
    webhook_url: PUBLIC_URL,
    webhook_kind: 'generic',
    status: 'active',
    webhook_failing: false,
    last_match_at: null,
  });
  expect(Date.parse(monitor.next_charge_at) - Date.parse(monitor.created_at)).toBeCloseTo(24 * 3_600_000, -3);
  expect(reply.headers.get('x-credits-used')).toBe('10');
  expect(reply.headers.get('x-credits-remaining')).toBe('15');
  expect(await ledger(accountId)).toEqual([
    ['grant', 25, 25, 'opening'],
    ['monitor_create', -10, 15, `${monitor.id}:1`],
  ]);
  const row = await stored(monitor.id);
  expect(api.secretBox.open(row.webhook_secret as Buffer, monitor.id)).toBe(reply.body.webhook_secret);
  expect(JSON.stringify((await api.call(apiKey, 'GET', `/v1/monitors/${monitor.id}`)).body)).not.toContain('whsec_');
  expect(await versions(monitor.id)).toEqual([1]);
});

test('a monitor is returned with its counts', async () => {
  await db.moveToNoon(0);
  onTestFinished(() => db.setShift('0'));
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  await db.pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches, suppressed, suppressed_not_stored)
     SELECT $1, (service_now() AT TIME ZONE 'UTC')::date - ago, 10 + ago, ago + 1, (ago + 3) * 1000000000::bigint FROM unnest(ARRAY[0, 6, 7]) AS ago`,
    [id],
  );
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     VALUES ($1, 1, 1, service_now() - interval '25 hours', 5, 'generic', 'h', 404, 'failed'),
            ($1, 2, 1, service_now() - interval '23 hours', 5, 'generic', 'h', 404, 'failed'),
            ($1, 3, 1, service_now(), 5, 'generic', 'h', 503, 'pending')`,
    [id],
  );
  await db.pool.query(`UPDATE monitor_counters SET last_match_at = '2026-01-02T03:04:05.678Z' WHERE monitor_id = $1`, [
    id,
  ]);
  const { body } = await api.call(apiKey, 'GET', `/v1/monitors/${id}`);
  expect(monitorStats.parse(body.stats)).toEqual({
    matches_today: 10,
    suppressed_today: 1,
    suppressed_not_stored: 3_000_000_000,
    matches_7d: 26,
    delivery_failures_24h: 1,
    last_match_at: '2026-01-02T03:04:05.678Z',
  });
  expect(monitorSchema.parse(body.monitor).last_match_at).toBe('2026-01-02T03:04:05.678Z');
});

test('changing what is matched starts a version and is announced; any other change is not', async () => {
  const { apiKey } = await api.account();
  const monitor = await api.monitor(apiKey, { webhook_url: PUBLIC_URL });
  const patch = (body: object) => api.call(apiKey, 'PATCH', `/v1/monitors/${monitor.id}`, body);

  expect(await announced(() => patch({ name: 'new', webhook_kind: 'slack' }))).toEqual([]);
  expect(await announced(() => patch({ keywords: ['rust'], posts: true, exclude: [] }))).toEqual([]);
  expect(await versions(monitor.id)).toEqual([1]);
  const changes = [
    { keywords: ['go'] },
    { exclude: ['game'] },
    { subreddits: ['golang'] },
    { posts: false },
    { comments: false },
    { nsfw: true },
  ];
  for (const body of changes) expect(await announced(() => patch(body))).toEqual([monitor.id]);
  expect(await versions(monitor.id)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const row = await stored(monitor.id);
  expect(row).toMatchObject({ version: 7, keywords: ['go'], subreddits: ['golang'], posts: false, name: 'new' });
  const charged = (row.next_charge_at as Date).toISOString();
  expect(charged).toBe(monitor.next_charge_at);
});

test('what is read of a monitor can be written again', async () => {
  const { apiKey } = await api.account();
  const { id, include_posts, include_comments } = await api.monitor(apiKey, { include_posts: false });
  const patch = (body: object) => api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body);
  expect([include_posts, include_comments]).toEqual([false, true]);
  const changed = await patch({ include_posts: true, include_comments });
  expect(changed.body.monitor).toMatchObject({ include_posts: true, include_comments: true });
  const differing = await patch({ comments: true, include_comments: false });
  expect([differing.status, differing.body.error]).toMatchObject([400, { code: 'invalid_request' }]);
});

describe('many requests at once', () => {
  const times = <T>(count: number, work: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(at)));

  function tally(replies: readonly Reply[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, body } of replies) {
      const code = (body.error as { code: string } | undefined)?.code;
      const key = code === undefined ? String(status) : `${status} ${code}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  interface Facts {
    balance: number;
    entries: number;
    sum: number;
    monitors: number;
    counters: number;
    versions: number;
  }

  async function facts(accountId: string): Promise<Facts> {
    const { rows } = await db.pool.query<Facts>(
      `SELECT a.balance,
            (SELECT count(*) FROM ledger_entries WHERE account_id = a.id) AS entries,
            (SELECT sum(amount)::bigint FROM ledger_entries WHERE account_id = a.id) AS sum,
            (SELECT count(*) FROM monitors WHERE account_id = a.id) AS monitors,
            (SELECT count(*) FROM monitors JOIN monitor_counters ON monitor_id = id WHERE account_id = a.id) AS counters,
            (SELECT count(*) FROM monitors JOIN monitor_versions ON monitor_id = id WHERE account_id = a.id) AS versions
     FROM accounts a WHERE a.id = $1`,
      [accountId],
    );
    return rows[0]!;
  }

  const BODY = { name: 'x', keywords: ['rust'] };

  test.each<[string, { pack: 9 | 79; credits: number }, number, string]>([
    ['a limit of 10', { pack: 9, credits: 1_000 }, 10, '402 monitor_limit_reached'],
    ['55 credits', { pack: 79, credits: 55 }, 5, '402 insufficient_credits'],
  ])(
    'of 20 concurrent creates with %s as many succeed as may, each charged once',
    async (_what, means, made, refusal) => {
      const { accountId, apiKey } = await api.account(means);
      const replies = await times(20, () => api.call(apiKey, 'POST', '/v1/monitors', BODY));
      expect(tally(replies)).toEqual({ '201': made, [refusal]: 20 - made });
      const balance = means.credits - 10 * made;
      const rows = { monitors: made, counters: made, versions: made };
      expect(await facts(accountId)).toEqual({ balance, entries: made + 1, sum: balance, ...rows });
    },
  );

  test('20 concurrent resumes of one paused monitor charge once', async () => {
    const { accountId, apiKey } = await api.account({ credits: 100 });
    const { id } = await api.monitor(apiKey);
    await api.call(apiKey, 'POST', `/v1/monitors/${id}/pause`);
    const replies = await times(20, () => api.call(apiKey, 'POST', `/v1/monitors/${id}/resume`));
    const used = replies.map(({ headers }) => Number(headers.get('x-credits-used')));
    expect(tally(replies)).toEqual({ '200': 20 });
    expect(used.filter((credits) => credits === 10)).toHaveLength(1);
    expect(await facts(accountId)).toMatchObject({ balance: 80, sum: 80, entries: 3 });
    const { rows } = await db.pool.query(
      `SELECT reference FROM ledger_entries WHERE account_id = $1 AND kind LIKE 'monitor%' ORDER BY id`,
      [accountId],
    );
    expect(rows).toEqual([{ reference: `${id}:1` }, { reference: `${id}:2` }]);
  });

  test('20 concurrent PATCHes start as many versions as changes, and the last one wins completely', async () => {
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey);
    const replies = await times(20, (at) =>
      api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, {
        name: `n${at}`,
        keywords: [`term ${at}`],
        exclude: [`not ${at}`],
      }),
    );
    expect(tally(replies)).toEqual({ '200': 20 });
    const { rows } = await db.pool.query<{ name: string; keywords: string[]; exclude: string[]; version: number }>(
      'SELECT name, keywords, exclude, version FROM monitors WHERE id = $1',
      [id],
    );
    const at = rows[0]!.name.slice(1);
    expect(rows).toEqual([{ name: `n${at}`, keywords: [`term ${at}`], exclude: [`not ${at}`], version: 21 }]);
    const since = await db.pool.query<{ version: number; since: Date }>(
      'SELECT version, since FROM monitor_versions WHERE monitor_id = $1 ORDER BY version',
      [id],
    );
    expect(since.rows.map(({ version }) => version)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
    // A version that waited for the others starts after its wait.
    const begins = since.rows.map((row) => row.since.getTime());
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
  });

  test('a resume that waited for a delete answers 404 and charges nothing', async () => {
    const { accountId, apiKey } = await api.account({ credits: 100 });
    const { id } = await api.monitor(apiKey);
    await api.call(apiKey, 'POST', `/v1/monitors/${id}/pause`);
    const holder = await db.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM monitor_counters WHERE monitor_id = $1 FOR UPDATE', [id]);
    await holder.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [id]);
    const resumed = api.call(apiKey, 'POST', `/v1/monitors/${id}/resume`);
    await untilLockWaiters(db.pool);
    await holder.query('COMMIT');
    holder.release();
    expect(tally([await resumed])).toEqual({ '404 not_found': 1 });
    expect(await facts(accountId)).toMatchObject({ balance: 90, sum: 90 });
  });
});

describe('a rule that always changes', () => {
  /** Gives the rule as many versions, all but the first an hour ago, as a client that never stops changing it would. */
  async function changeTo(id: string, version: number): Promise<void> {
    await db.pool.query(
      `INSERT INTO monitor_versions (monitor_id, version, since)
     SELECT $1, version, wall_now() - interval '1 hour' FROM generate_series(2, $2::int) AS version`,
      [id, version],
    );
    await db.pool.query('UPDATE monitors SET version = $2 WHERE id = $1', [id, version]);
  }

  test('a rule may change a thousand times in 24 hours; everything else of the monitor may change always', async () => {
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey);
    const patch = (body: object) => api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body);
    await changeTo(id, RULE_VERSIONS_PER_DAY + 1);
    const refused = await patch({ nsfw: true });
    expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect((await patch({ name: 'another name' })).status).toBe(200);
    await db.pool.query(
      `UPDATE monitor_versions SET since = wall_now() - interval '24 hours' WHERE monitor_id = $1 AND version = 1`,
      [id],
    );
    expect((await patch({ nsfw: true })).status).toBe(200);
  });

  test('what matchers and questions read of a rule that always changes is bounded, and is the newest', async () => {
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey);
    await changeTo(id, 5_000);
    const { monitors } = await readRulesById(db.pool, [id], 1e9);
    const versions = monitors[0]!.versions.map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: 3_000 }, (_, index) => 2_001 + index));
    const history = await readMonitorHistory(db.pool, id);
    expect(history.versions.map(({ version }) => version)).toEqual(Array.from({ length: 1_000 }, (_, n) => 4_001 + n));
  });
});
