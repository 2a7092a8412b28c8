import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { monitor as monitorSchema, monitorStats } from '../../../schemas/api/monitor.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

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

test('a new webhook URL clears webhook_failing; the same one does not; null and empty remove it', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { webhook_url: PUBLIC_URL });
  const fail = () =>
    db.pool.query(
      `INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, 50, true)
       ON CONFLICT (monitor_id) DO UPDATE SET failures = 50, webhook_failing = true`,
      [id],
    );
  const patch = async (body: object) =>
    monitorSchema.parse((await api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body)).body.monitor);

  await fail();
  expect(await patch({ webhook_url: PUBLIC_URL, name: 'x' })).toMatchObject({ webhook_failing: true });
  const other = 'https://discord.com/api/webhooks/1/x';
  expect(await patch({ webhook_url: other })).toMatchObject({ webhook_failing: false, webhook_kind: 'discord' });
  for (const removal of [null, '']) {
    await patch({ webhook_url: other });
    await fail();
    expect(await patch({ webhook_url: removal })).toMatchObject({
      webhook_url: null,
      webhook_kind: null,
      webhook_failing: false,
    });
  }
});

test('a delete after the sweep removed the lock row still answers 200', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  await api.call(apiKey, 'DELETE', `/v1/monitors/${id}`);
  await db.pool.query('DELETE FROM monitor_counters WHERE monitor_id = $1', [id]);
  const reply = await api.call(apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect([reply.status, reply.body]).toEqual([200, { status: 'deleted' }]);
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
