import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { account } from '../../../schemas/api/account.ts';
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

test('the defaults match posts and comments everywhere, without a webhook', async () => {
  const { apiKey } = await api.account();
  expect(await api.monitor(apiKey)).toMatchObject({
    exclude: [],
    subreddits: [],
    include_posts: true,
    include_comments: true,
    nsfw: false,
    webhook_url: null,
    webhook_kind: null,
  });
});

test('the list has all monitors except deleted ones, with the limits of the plan', async () => {
  const { apiKey } = await api.account({ pack: 9 });
  const kept = await api.monitor(apiKey);
  const deleted = await api.monitor(apiKey);
  await api.call(apiKey, 'DELETE', `/v1/monitors/${deleted.id}`);
  const reply = await api.call(apiKey, 'GET', '/v1/monitors');
  expect(reply.body).toEqual({ items: [kept], limit: 10, used: 1, daily_match_cap: 1_000 });
  expect(reply.headers.get('x-credits-used')).toBeNull();
  expect(reply.headers.get('x-credits-remaining')).toBe('980');
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

test('an empty PATCH changes nothing, not even updated_at', async () => {
  const { apiKey } = await api.account();
  const monitor = await api.monitor(apiKey);
  for (const body of [undefined, {}, '']) {
    const reply = await api.call(apiKey, 'PATCH', `/v1/monitors/${monitor.id}`, body);
    expect([reply.status, reply.body]).toEqual([200, { monitor }]);
  }
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

test('pause, resume, delete: states, charges, announcements', async () => {
  const { accountId, apiKey } = await api.account({ credits: 35 });
  const { id } = await api.monitor(apiKey);
  const path = `/v1/monitors/${id}`;
  const post = (action: string) => api.call(apiKey, 'POST', `${path}/${action}`);

  const again = await post('resume');
  expect([again.status, again.headers.get('x-credits-used'), again.headers.get('x-credits-remaining')]).toEqual([
    200,
    '0',
    '25',
  ]);
  expect(await announced(() => post('pause'))).toEqual([id]);
  expect(await announced(() => post('pause'))).toEqual([]);
  expect((await stored(id)).status).toBe('paused');

  const before = await stored(id);
  await db.setShift('30 hours');
  const resumed = await post('resume');
  await db.setShift('0');
  expect([resumed.headers.get('x-credits-used'), resumed.headers.get('x-credits-remaining')]).toEqual(['10', '15']);
  const after = await stored(id);
  expect(after).toMatchObject({ status: 'active', period_no: 2, version: 1 });
  // The charge time follows the service's clock; active_since is real time.
  expect((after.next_charge_at as Date).getTime()).toBeGreaterThan(Date.now() + 53 * 3_600_000);
  expect((after.active_since as Date).getTime()).toBeGreaterThan((before.active_since as Date).getTime());
  expect((after.active_since as Date).getTime()).toBeLessThan(Date.now() + 1_000);

  await db.pool.query(`UPDATE monitors SET status = 'paused_balance' WHERE id = $1`, [id]);
  expect((await post('pause')).body).toEqual({ status: 'paused' });
  await db.pool.query(`UPDATE monitors SET status = 'paused_balance' WHERE id = $1`, [id]);
  expect(await announced(() => post('resume'))).toEqual([id]);
  expect(await ledger(accountId)).toEqual([
    ['grant', 35, 35, 'opening'],
    ['monitor_create', -10, 25, `${id}:1`],
    ['monitor_resume', -10, 15, `${id}:2`],
    ['monitor_resume', -10, 5, `${id}:3`],
  ]);

  await post('pause');
  const refused = await post('resume');
  expect([refused.status, refused.body]).toEqual([
    402,
    { error: { code: 'insufficient_credits', message: expect.any(String) as string, retryable: false } },
  ]);
  expect(await stored(id)).toMatchObject({ status: 'paused', period_no: 3 });

  expect(await announced(() => api.call(apiKey, 'DELETE', path))).toEqual([id]);
  expect((await api.call(apiKey, 'DELETE', path)).body).toEqual({ status: 'deleted' });
  for (const [method, rest] of [
    ['GET', ''],
    ['PATCH', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['GET', '/matches'],
  ] as const) {
    expect((await api.call(apiKey, method, path + rest)).status, `${method} ${rest}`).toBe(404);
  }
  const { rowCount } = await db.pool.query('SELECT FROM monitor_counters WHERE monitor_id = $1', [id]);
  expect(rowCount).toBe(1);
});

test('a delete after the sweep removed the lock row still answers 200', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  await api.call(apiKey, 'DELETE', `/v1/monitors/${id}`);
  await db.pool.query('DELETE FROM monitor_counters WHERE monitor_id = $1', [id]);
  const reply = await api.call(apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect([reply.status, reply.body]).toEqual([200, { status: 'deleted' }]);
});

test('the account shows balance, plan and limits', async () => {
  const { accountId, apiKey } = await api.account({ credits: 7, pack: 0 });
  const reply = await api.call(apiKey, 'GET', '/v1/account');
  expect(account.parse(reply.body)).toMatchObject({
    id: accountId,
    balance: 7,
    plan: 'free',
    limits: {
      monitors: 1,
      daily_match_cap: 200,
      requests_per_second: 1,
      request_burst: 1,
      requests_per_day: 100,
    },
  });
});
