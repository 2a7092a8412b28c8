import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let id: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
});
beforeEach(async () => {
  ({ id } = await api.monitor(owner.apiKey));
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

function start(body: object, headers: Record<string, string> = {}): Promise<Reply> {
  return api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/backfill`, body, headers);
}

async function endRuns(): Promise<void> {
  await db.pool.query(`UPDATE backfills SET state = 'done', ended_at = service_now() WHERE state = 'running'`);
}

async function runs(): Promise<Record<string, unknown>[]> {
  const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/backfill`);
  return body.items as Record<string, unknown>[];
}

test('starts a run, which waits, and shows it', async () => {
  const from = ago(7 * DAY_MS);
  const reply = await start({ from, deliver: true, max_credits: 20 });
  expect(reply.status).toBe(202);
  expect(reply.headers.get('x-credits-used')).toBe('0');
  const { backfill } = reply.body as { backfill: Record<string, unknown> };
  expect(backfill).toMatchObject({
    state: 'running',
    from,
    deliver: true,
    max_credits: 20,
    scanned_to: null,
    share: 0,
  });
  expect(Math.abs(Date.parse(backfill.to as string) - Date.now())).toBeLessThan(60_000);
  expect(await runs()).toEqual([backfill]);
});

test('a paused monitor may have one; a second one waits for the end of the first', async () => {
  await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/pause`);
  expect((await start({ from: ago(HOUR_MS) })).status).toBe(202);
  const second = await start({ from: ago(HOUR_MS) });
  expect([second.status, second.body]).toMatchObject([409, { error: { code: 'backfill_running', retryable: true } }]);
  await endRuns();
  expect((await start({ from: ago(HOUR_MS) })).status).toBe(202);
  expect((await runs()).map(({ state }) => state)).toEqual(['running', 'done']);
});

test('of ten requests at once one starts a run', async () => {
  const replies = await Promise.all(Array.from({ length: 10 }, () => start({ from: ago(HOUR_MS) })));
  expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array<number>(9).fill(409)]);
});

test('an Idempotency-Key starts one run, however often it is sent', async () => {
  const body = { from: ago(HOUR_MS) };
  const headers = { 'Idempotency-Key': `once-${id}` };
  const first = await start(body, headers);
  const again = await start(body, headers);
  expect([again.status, again.body]).toEqual([202, first.body]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await runs()).toHaveLength(1);
});

test('a monitor may have ten runs in 24 hours, then after the first of them is a day old again', async () => {
  for (let run = 0; run < 10; run++) {
    expect((await start({ from: ago(HOUR_MS) })).status).toBe(202);
    await endRuns();
  }
  const refused = await start({ from: ago(HOUR_MS) });
  expect([refused.status, refused.body]).toMatchObject([429, { error: { code: 'rate_limited' } }]);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(24 * 3_600 - 120);
  await db.pool.query(
    `UPDATE backfills SET created_at = created_at - make_interval(secs => $2) WHERE monitor_id = $1`,
    [id, wait + 1],
  );
  expect((await start({ from: ago(HOUR_MS) })).status).toBe(202);
});

test('backfill_hours at the creation starts a run in the same transaction; without it nothing changes', async () => {
  const plain = await api.call(owner.apiKey, 'POST', '/v1/monitors', { name: 'plain', keywords: ['rust'] });
  expect(plain.body).not.toHaveProperty('backfill');
  const body = { name: 'with', keywords: ['rust'], backfill_hours: 720 };
  const reply = await api.call(owner.apiKey, 'POST', '/v1/monitors', body, { 'Idempotency-Key': `create-${id}` });
  expect(reply.status).toBe(201);
  expect(reply.headers.get('x-credits-used')).toBe('10');
  const { monitor, backfill } = reply.body as { monitor: { id: string }; backfill: Record<string, string> };
  expect(Math.abs(Date.parse(backfill.to!) - Date.parse(backfill.from!) - 720 * HOUR_MS)).toBeLessThan(60_000);
  // What enters from active_since on is matched live, so the archive up to then is all that is missing.
  const { rows } = await db.pool.query(
    `SELECT b.to_at >= m.active_since AND b.until_now AS "hasNoHole" FROM backfills b JOIN monitors m ON m.id = b.monitor_id
     WHERE m.id = $1`,
    [monitor.id],
  );
  expect(rows).toEqual([{ hasNoHole: true }]);
  const again = await api.call(owner.apiKey, 'POST', '/v1/monitors', body, { 'Idempotency-Key': `create-${id}` });
  expect(again.body).toEqual(reply.body);
  for (const hours of [0, 721, '24', null]) {
    const refused = await api.call(owner.apiKey, 'POST', '/v1/monitors', { ...body, backfill_hours: hours });
    expect([refused.status, refused.body.error]).toMatchObject([400, { code: 'invalid_request' }]);
  }
});

const cancel = (run: unknown, key = owner.apiKey, monitor = id) =>
  api.call(key, 'DELETE', `/v1/monitors/${monitor}/backfill/${String(run)}`);

test('a run is cancelled, however often that is asked for; another one waits for its end', async () => {
  const { backfill } = (await start({ from: ago(HOUR_MS) })).body as { backfill: { id: string } };
  for (let time = 0; time < 2; time++) {
    const reply = await cancel(backfill.id);
    expect([reply.status, reply.body]).toEqual([200, { backfill: { ...backfill, state: 'cancelling' } }]);
  }
  expect(await runs()).toMatchObject([{ state: 'cancelling' }]);
  expect((await start({ from: ago(HOUR_MS) })).body).toMatchObject({ error: { code: 'backfill_running' } });
  await db.pool.query(
    `UPDATE backfills SET state = 'done', cancelled_at = NULL, ended_at = service_now() WHERE id = $1`,
    [backfill.id],
  );
  expect((await cancel(backfill.id)).body).toMatchObject({ backfill: { id: backfill.id, state: 'done' } });
});

test('runs of other monitors and of other accounts are not cancelled', async () => {
  const { backfill } = (await start({ from: ago(HOUR_MS) })).body as { backfill: { id: string } };
  const other = await api.monitor(owner.apiKey);
  const stranger = await api.account();
  for (const run of [backfill.id, 'bf_000000000000', 'x', '%00', backfill.id.toUpperCase()]) {
    const reply = await cancel(run, owner.apiKey, other.id);
    expect([reply.status, reply.body]).toMatchObject([404, { error: { message: 'No such backfill.' } }]);
  }
  expect((await cancel(backfill.id, stranger.apiKey)).status).toBe(404);
  expect(await runs()).toMatchObject([{ state: 'running' }]);
});

const future = () => new Date(Date.now() + HOUR_MS).toISOString();
const REFUSALS: [string, () => object, string][] = [
  ['no from', () => ({}), '^from: must be an ISO 8601'],
  ['a time without an offset', () => ({ from: '2026-03-04T10:00:00' }), '^from: must be an ISO 8601'],
  ['a from in the future', () => ({ from: future() }), '^from: must be in the past'],
  ['a from after to', () => ({ from: ago(HOUR_MS), to: ago(2 * HOUR_MS) }), '^from: must be before to'],
  ['a to in the future', () => ({ from: ago(HOUR_MS), to: future() }), '^to: must not be in the future'],
  [
    'a to before the archive',
    () => ({ from: ago(40 * DAY_MS), to: ago(31 * DAY_MS) }),
    '^to: must be within the last 30',
  ],
  ['half a credit', () => ({ from: ago(HOUR_MS), max_credits: 0.5 }), '^max_credits: '],
];

test.each(REFUSALS)('refuses %s; nothing is changed', async (_name, body, message) => {
  const before = await refusedState(db.pool);
  const reply = await start(body());
  expect([reply.status, reply.body]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
  expect((reply.body.error as { message: string }).message).toMatch(new RegExp(message));
  expect(await refusedState(db.pool)).toEqual(before);
  expect(await runs()).toEqual([]);
});
