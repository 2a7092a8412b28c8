import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { MonitorDelivery } from '../../../schemas/api/monitor.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let bench: DeliveryBench;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  bench = await DeliveryBench.create();
  api = await startTestApi(bench.db.pool, { allowPrivate: true });
});
afterAll(async () => {
  await api.stop();
  await bench.db.drop();
});
beforeEach(async () => {
  owner = await api.account();
});
afterEach(async () => {
  await bench.reset();
});

const startDeliverer = (options = {}) =>
  bench.startDeliverer({ secretBox: api.secretBox, random: () => 0, ...options });

async function shown(id: string): Promise<{ delivery: MonitorDelivery; failures: number }> {
  const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}`);
  const { delivery_failures_24h: failures } = body.stats as { delivery_failures_24h: number };
  return { delivery: body.delivery as MonitorDelivery, failures };
}

/** Waits until the monitor's first match was attempted that often; returns what the monitor then shows. */
async function afterAttempts(id: string, attempts: number) {
  await bench.firstState(id, ({ attempt, is_leased }) => attempt === attempts && !is_leased);
  return shown(id);
}

test('a monitor without a webhook, and one without a match, have nothing to show', async () => {
  const nothing = {
    pending: 0,
    oldest_pending_at: null,
    last_status: null,
    last_error: null,
    last_attempt_at: null,
    last_delivered_at: null,
    attempt_failures_24h: 0,
  };
  const bare = await api.monitor(owner.apiKey);
  expect((await shown(bare.id)).delivery).toEqual({ state: 'none', ...nothing });
  const hooked = await api.monitor(owner.apiKey, { webhook_url: 'http://127.0.0.1:9/' });
  expect((await shown(hooked.id)).delivery).toEqual({ state: 'ok', ...nothing });
});

test('what waits for a webhook is skipped when it is removed, and one that is added later does not get it', async () => {
  const port = await freePort();
  const { id } = await api.monitor(owner.apiKey, { webhook_url: `http://127.0.0.1:${port}/` });
  await bench.addMatches(id, 1);
  await startDeliverer();
  await afterAttempts(id, 1);
  const change = (url: string) =>
    api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, { webhook_url: url === '' ? null : url });
  expect((await change('')).status).toBe(200);
  expect((await shown(id)).delivery.pending).toBe(0);
  expect((await change(`http://127.0.0.1:${port}/other`)).status).toBe(200);
  const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches`);
  expect(body.items).toMatchObject([{ delivery_status: 'skipped' }]);
});

test('a dead endpoint is retrying after its first failure, failing after ten minutes, and ok after a success', async () => {
  const port = await freePort();
  const { id } = await api.monitor(owner.apiKey, { webhook_url: `http://127.0.0.1:${port}/` });
  await bench.db.freeze();
  await bench.addMatches(id, 1);
  const { rows } = await bench.db.pool.query<{ now: Date }>('SELECT service_now() AS now');
  const recordedAt = rows[0]!.now.toISOString();
  await startDeliverer();
  const first = await afterAttempts(id, 1);
  expect(first).toMatchObject({ failures: 0 });
  expect(first.delivery).toMatchObject({
    state: 'retrying',
    pending: 1,
    oldest_pending_at: recordedAt,
    last_status: 0,
    last_error: 'connect',
    last_delivered_at: null,
    attempt_failures_24h: 1,
  });
  for (const [step, wait] of ['30 s', '2 min'].entries()) {
    await bench.db.freeze(wait);
    expect((await afterAttempts(id, step + 2)).delivery).toMatchObject({ state: 'retrying' });
  }
  // Waits since 12.5 minutes; the daily count of permanent failures still says nothing.
  await bench.db.freeze('10 min');
  const late = await afterAttempts(id, 4);
  expect(late).toMatchObject({ failures: 0, delivery: { state: 'failing', attempt_failures_24h: 4 } });

  const { body } = await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, {
    webhook_url: (await bench.startReceiver((_, response) => response.writeHead(204).end())).url,
  });
  expect(body.monitor).toMatchObject({ webhook_failing: false });
  await bench.db.freeze('30 min');
  const mended = await afterAttempts(id, 5);
  const attemptedAt = mended.delivery.last_attempt_at!;
  expect(mended.delivery).toMatchObject({
    state: 'ok',
    pending: 0,
    oldest_pending_at: null,
    last_status: 204,
    last_error: null,
    attempt_failures_24h: 4,
  });
  expect(Date.parse(mended.delivery.last_delivered_at!)).toBeGreaterThanOrEqual(Date.parse(attemptedAt));
  await bench.db.freeze('24 h');
  expect((await shown(id)).delivery).toMatchObject({ state: 'ok', attempt_failures_24h: 0, last_status: 204 });
});

test('an endpoint that accepts and never answers is a time-out, also with two processes', async () => {
  const receiver = await bench.startReceiver(() => undefined);
  const { id } = await api.monitor(owner.apiKey, { webhook_url: receiver.url });
  await bench.addMatches(id, 6);
  await startDeliverer({ deadlineMs: 200 });
  await startDeliverer({ deadlineMs: 200 });
  const attempted = async () => {
    const { delivery } = await shown(id);
    return delivery.attempt_failures_24h === 6 && delivery;
  };
  expect(await eventually('each was attempted once', attempted)).toMatchObject({
    state: 'retrying',
    pending: 6,
    last_status: 0,
    last_error: 'timeout',
  });
});

test('a resent match waits since it was resent, and its failure shows', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(500).end());
  const { id } = await api.monitor(owner.apiKey, { webhook_url: receiver.url });
  await bench.addMatches(id, 2);
  await bench.db.pool.query(`UPDATE matches SET delivery_status = 'failed' WHERE monitor_id = $1`, [id]);
  await bench.db.freeze('20 days');
  await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/redeliver`, { status: 'failed' });
  const { delivery } = await shown(id);
  expect(delivery).toMatchObject({ state: 'ok', pending: 2 });
  await bench.db.freeze('1 s');
  await startDeliverer();
  const attempted = async () => {
    const { delivery: after } = await shown(id);
    return after.attempt_failures_24h === 2 && after;
  };
  expect(await eventually('both were attempted', attempted)).toMatchObject({
    state: 'retrying',
    oldest_pending_at: delivery.oldest_pending_at,
    last_status: 500,
    last_error: 'http_status',
  });
});
