import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertPayment } from '../../../shared/stores/payments/payments.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

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

type Line = { type: string } & Record<string, unknown>;

/** Stores matches with a delivery attempt each. @param bytes of each body */
async function insertMatches(monitorId: string, count: number, bytes = 10): Promise<void> {
  await db.pool.query(
    `WITH numbers AS (SELECT n, 't1_' || substr(md5($1 || n), 1, 10) AS thing FROM generate_series(1, $2::int) AS n),
     items AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT thing, 'comment', 't3_x', 'rust', 'ada', 'a title', repeat('x', $3), '/r/rust/x', false, service_now(),
         service_now() + interval '1 day' FROM numbers
     ), matches AS (
       INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       SELECT $1, n, thing, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'pending', 'delivered'
       FROM numbers
     )
     INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, n, 1, service_now(), 5, 'generic', 'hooks.example.net', 200, 'delivered' FROM numbers`,
    [monitorId, count, bytes],
  );
  await db.pool.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = $1', [monitorId, count]);
}

function linesOf(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

test('all data of an account comes as lines of JSON, without secrets, and ends with their number', async () => {
  const { accountId, apiKey, email } = await api.account({ credits: 5_000 });
  const stranger = await api.account();
  await api.monitor(stranger.apiKey, { name: 'of a stranger' });
  const created = await api.call(apiKey, 'POST', '/v1/monitors', {
    name: 'jobs',
    keywords: ['rust'],
    webhook_url: 'https://hooks.example.net/secret-path',
  });
  const { monitor, webhook_secret: secret } = created.body as { monitor: { id: string }; webhook_secret: string };
  await api.call(apiKey, 'POST', `/v1/monitors/${monitor.id}/mutes`, { kind: 'author', value: 'u/spammer' });
  await insertMatches(monitor.id, 250);
  const payment = { id: 'pay_1', accountId, pack: 9, amount: 900, currency: 'usd', credits: 5_000 } as const;
  await insertPayment(db.pool, { ...payment, mode: 'live' });
  const person = await visitDashboard(db.pool, api.url, accountId);
  await person.post('/account/notices', { kinds: ['low_balance'] });
  const answer = await person.get('/account/export');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="forum-monitor-${accountId}.jsonl"`);
  const lines = linesOf(answer.html);
  const ofType = (type: string) => lines.filter((line) => line.type === type);
  expect([...new Set(lines.map(({ type }) => type))]).toEqual([
    'export',
    'account',
    'notice',
    'key',
    'session',
    'payment',
    'ledger',
    'monitor',
    'mute',
    'match',
    'delivery',
    'end',
  ]);
  expect(ofType('account')).toMatchObject([{ id: accountId, email }]);
  expect(ofType('notice').map(({ kind, mailed }) => [kind, mailed])).toEqual([
    ['low_balance', true],
    ['monitor_paused', false],
    ['webhook_failing', false],
    ['webhook_recovered', false],
  ]);
  expect(ofType('monitor')).toMatchObject([{ id: monitor.id, name: 'jobs', keywords: ['rust'] }]);
  expect(ofType('mute')).toMatchObject([{ monitor_id: monitor.id, value: 'spammer' }]);
  expect(ofType('match').map(({ id }) => id)).toEqual(
    Array.from({ length: 250 }, (_, n) => `mat_${monitor.id.slice(4)}_${String(n + 1).padStart(12, '0')}`),
  );
  expect(ofType('delivery')).toHaveLength(250);
  expect(ofType('payment')).toMatchObject([{ id: 'pay_1', amount: 900, status: 'started', paid_at: null }]);
  expect(ofType('ledger').map(({ kind }) => kind)).toEqual(['monitor_create', 'grant']);
  expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 });
  for (const hidden of [secret, apiKey.slice(11), person.token, 'of a stranger', stranger.email]) {
    expect(answer.html).not.toContain(hidden);
  }
});

test('a client that stops reading holds no memory and no transaction, and one that goes ends the work', async () => {
  const { accountId, apiKey } = await api.account({ credits: 5_000 });
  const { id } = await api.monitor(apiKey);
  // 40 MB, more than all buffers in between.
  await insertMatches(id, 4_000, 10_000);
  const person = await visitDashboard(db.pool, api.url, accountId);
  await untilStill();
  const before = await statements('delivery_attempts');
  const { port, hostname } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /dashboard/account/export HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${person.cookie}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  await untilStill();
  // Deliveries come after the matches, which wait for their reader.
  expect(await statements('delivery_attempts')).toBe(before);
  const { rows: open } = await db.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
  );
  expect(open).toHaveLength(0);
  socket.destroy();
  await untilStill();
  expect(await statements('delivery_attempts')).toBe(before);
  const whole = await person.get('/account/export');
  expect(linesOf(whole.html).at(-1)).toMatchObject({ type: 'end' });
  await untilStill();
  expect(await statements('delivery_attempts')).toBeGreaterThan(before);
});

test('a download stops when its session is ended, as by the owner of a stolen cookie', async () => {
  const { accountId, apiKey } = await api.account({ credits: 5_000 });
  const { id } = await api.monitor(apiKey);
  await insertMatches(id, 2_000, 10_000);
  const [thief, owner] = [
    await visitDashboard(db.pool, api.url, accountId),
    await visitDashboard(db.pool, api.url, accountId),
  ];
  const { body } = await fetch(`${api.url}/dashboard/account/export`, { headers: { cookie: thief.cookie } });
  const reader = body!.getReader();
  await reader.read();
  expect((await owner.post('/account/sessions/end-others')).status).toBe(303);
  const readAll = async () => {
    while (!(await reader.read()).done);
  };
  await expect(readAll()).rejects.toThrow('terminated');
});

/** How many scans of a table there were; the server counts them about once a second. */
async function statements(table: string): Promise<number> {
  const { rows } = await db.pool.query<{ scans: number }>(
    `SELECT coalesce(idx_scan, 0) + coalesce(seq_scan, 0) AS scans FROM pg_stat_user_tables WHERE relname = $1`,
    [table],
  );
  return rows[0]!.scans;
}

/** Waits until no match has been read for 60 looks, which take more than three seconds. */
async function untilStill(): Promise<void> {
  let scans = -1;
  let looks = 0;
  await eventually('nothing more is read', async () => {
    const now = (await statements('matches')) + (await statements('delivery_attempts'));
    looks = now === scans ? looks + 1 : 0;
    scans = now;
    return looks >= 60;
  });
}

test('it is limited, and only for its own session', async () => {
  const { accountId } = await api.account();
  const person = await visitDashboard(db.pool, api.url, accountId);
  const statuses = [];
  for (let n = 0; n < 11; n++) statuses.push((await person.get('/account/export')).status);
  expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
  const signedOut = await fetch(`${api.url}/dashboard/account/export`, { redirect: 'manual' });
  expect(signedOut.status).toBe(303);
});
