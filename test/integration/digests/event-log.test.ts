import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { eventLogPage } from '../../../schemas/api/deliveries.ts';
import type { EventLogPage } from '../../../schemas/api/deliveries.ts';
import { makeDigests } from '../../../services/biller/digests.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { claimDueEvents, recordEventOutcome, insertMonitorEvent } from '../../../shared/deliveries/event-deliveries.ts';
import { recordMatches } from '../../support/fixtures/deliveries/digest-jobs.ts';
import { DASHBOARD_URL } from '../../support/fixtures/notices/notice-jobs.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const SPIKE = { at: '2026-03-04T13:00:00.000Z', interval: 'hour', count: 57, expected: 4, score: 11.2 };

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const monitor = async (options: object = {}) =>
  (await api.monitor(owner.apiKey, { webhook_url: 'https://receiver.example/hook', ...options })).id;

const addSpike = (monitorId: string, key = SPIKE.at) =>
  insertMonitorEvent(db.pool, { monitorId, kind: 'monitor.spike', key, payload: { ...SPIKE, at: key } });

async function page(id: string, query = ''): Promise<EventLogPage> {
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/events${query}`);
  expect([reply.status, reply.headers.get('x-credits-used')]).toEqual([200, null]);
  return eventLogPage.parse(reply.body);
}

async function digestOf(monitorId: string): Promise<void> {
  await db.pool.query('UPDATE monitor_digests SET due_at = service_now() WHERE monitor_id = $1', [monitorId]);
  await makeDigests({ pool: db.pool, dashboardUrl: DASHBOARD_URL }, owner.accountId);
}

/** Stores the outcome of an attempt to deliver each event that is due. */
async function attempt(
  monitorId: string,
  outcome: Omit<Parameters<typeof recordEventOutcome>[1], 'monitorId' | 'seq' | 'leaseToken' | 'webhookUrl'>,
) {
  const lease = { token: '00000000-0000-4000-8000-000000000000', lengthMs: 20_000 };
  const claimed = await claimDueEvents(db.pool, { monitorId, limit: 100 }, lease);
  for (const { seq, leaseToken, webhookUrl } of claimed) {
    await recordEventOutcome(db.pool, { monitorId, seq, leaseToken, webhookUrl, ...outcome });
  }
}

test('a new event waits; an attempt that failed shows its answer and the next one; a delivered one its time', async () => {
  const id = await monitor({ spike_webhook: true });
  await addSpike(id);
  const [stored] = (await page(id)).items;
  const waiting = { delivery_status: 'pending', attempts: 0, next_attempt_at: stored!.created_at, delivered_at: null };
  expect(stored).toMatchObject({ type: 'monitor.spike', ...waiting, spike: SPIKE });

  await attempt(id, { httpStatus: 503, error: 'http_status', deliveryStatus: 'pending', delayMs: 30_000 });
  const [failed] = (await page(id)).items;
  const outcome = { attempts: 1, last_status: 503, last_error: 'http_status' };
  expect(failed).toMatchObject({ delivery_status: 'pending', ...outcome });
  expect(Date.parse(failed!.next_attempt_at!) - Date.parse(failed!.last_attempt_at!)).toBe(30_000);

  await db.setShift('1 minute');
  await attempt(id, { httpStatus: 204, error: null, deliveryStatus: 'delivered', delayMs: null });
  await db.setShift('0');
  const [delivered] = (await page(id)).items;
  const at = delivered!.delivered_at;
  expect(delivered).toEqual({
    ...failed,
    delivery_status: 'delivered',
    attempts: 2,
    last_status: 204,
    last_error: null,
    last_attempt_at: at,
    next_attempt_at: null,
    delivered_at: at,
  });
  expect(Date.parse(at!)).toBeGreaterThan(Date.parse(failed!.last_attempt_at!));
});

test('a digest names its matches by a range that the page of matches continues from', async () => {
  const id = await monitor({ digest: 'hourly' });
  const things = await recordMatches(db.pool, id, 3);
  await digestOf(id);
  await attempt(id, { httpStatus: 200, error: null, deliveryStatus: 'delivered', delayMs: null });
  const later = await recordMatches(db.pool, id, 2);
  await digestOf(id);
  const url = `${DASHBOARD_URL}/dashboard/monitors/${id}`;
  const [second, first] = (await page(id)).items;
  expect(first).toMatchObject({
    type: 'monitor.digest',
    delivery_status: 'delivered',
    digest: { interval: 'hourly', count: 3, url, after: null, until: matchId(id, 3) },
  });
  expect(second).toMatchObject({
    delivery_status: 'pending',
    digest: { interval: 'hourly', count: 2, url, after: matchId(id, 3), until: matchId(id, 5) },
  });
  expect(second).not.toHaveProperty('spike');
  const matchesAfter = async (after: string | null) => {
    const query = after === null ? '' : `?after=${after}`;
    const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches${query}`);
    return (body.items as { thing_id: string }[]).map(({ thing_id }) => thing_id);
  };
  expect(await matchesAfter(first!.digest!.after)).toEqual([...things, ...later]);
  expect(await matchesAfter(second!.digest!.after)).toEqual(later);
});

test('pages are newest first, neither shift nor repeat while events come, and end', async () => {
  const id = await monitor({ spike_webhook: true });
  const hours = Array.from({ length: 7 }, (_, hour) => `2026-03-04T0${hour}:00:00.000Z`);
  for (const hour of hours) await addSpike(id, hour);
  await addSpike(await monitor({ spike_webhook: true }));
  const seen: string[] = [];
  let query = '?limit=3';
  for (let pages = 1; ; pages += 1) {
    const { items, after } = await page(id, query);
    seen.push(...items.map(({ spike }) => spike!.at));
    expect(items).toHaveLength(pages < 3 ? 3 : 1);
    if (after === null) break;
    expect(after).toBe(items.at(-1)!.id);
    query = `?limit=3&after=${after}`;
    await addSpike(id, `2026-03-05T0${pages}:00:00.000Z`);
  }
  expect(seen).toEqual(hours.toReversed());
  expect((await page(id, '?limit=100')).items).toHaveLength(9);
  expect((await page(id, '?limit=9')).after).toBeNull();
});

test.each([
  ['limit=0', 'limit'],
  ['after=FOREIGN', 'after'],
])('%s is refused', async (query, field) => {
  const id = await monitor();
  const other = await monitor();
  await addSpike(other);
  const foreign = (await page(other)).items[0]!.id;
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/events?${query.replace('FOREIGN', foreign)}`);
  expect([reply.status, errorEnvelope.parse(reply.body).error.code]).toEqual([400, 'invalid_request']);
  expect(errorEnvelope.parse(reply.body).error.message).toMatch(new RegExp(`^${field}: `));
});
