import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { MonitorDelivery } from '../../../schemas/api/monitors.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import type { TestReceiver } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let bench: DeliveryBench;
let api: TestApi;
let owner: TestAccount;
let receiver: TestReceiver;
let answer: number;
let id: string;

beforeAll(async () => {
  bench = await DeliveryBench.create();
  api = await startTestApi(bench.db.pool, { allowPrivate: true });
});
beforeEach(async () => {
  answer = 204;
  owner = await api.account();
  receiver = await bench.startReceiver((_, response) => response.writeHead(answer).end());
  id = (await api.monitor(owner.apiKey, { webhook_url: receiver.url })).id;
});
afterEach(() => bench.reset());
afterAll(async () => {
  await api.stop();
  await bench.db.drop();
});

const startDeliverer = () => bench.startDeliverer({ secretBox: api.secretBox, random: () => 0 });
const owned = (method: string, path = '', body?: object): Promise<Reply> =>
  api.call(owner.apiKey, method, `/v1/monitors/${id}${path}`, body);

async function shown(): Promise<{ delivery: MonitorDelivery; failures: number }> {
  const { body } = await owned('GET');
  const { delivery_failures_24h: failures } = body.stats as { delivery_failures_24h: number };
  return { delivery: body.delivery as MonitorDelivery, failures };
}

/** Waits until the monitor's first match was attempted that often; returns what the monitor then shows. */
async function afterAttempts(attempts: number) {
  await bench.firstState(id, ({ attempt, is_leased }) => attempt === attempts && !is_leased);
  return shown();
}

const setHealth = (failures: number, isFailing: boolean) =>
  bench.db.pool.query(
    `INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, $2, $3)
     ON CONFLICT (monitor_id) DO UPDATE SET failures = $2, webhook_failing = $3`,
    [id, failures, isFailing],
  );
async function health(): Promise<[failures: number, isFailing: boolean]> {
  const { rows } = await bench.db.pool.query<{ failures: number }>(
    'SELECT failures FROM monitor_health WHERE monitor_id = $1',
    [id],
  );
  const { monitor } = (await owned('GET')).body as { monitor: { webhook_failing: boolean } };
  return [rows[0]?.failures ?? 0, monitor.webhook_failing];
}

test('a dead endpoint is retrying after its first failure, failing after ten minutes, and ok after a success', async () => {
  await owned('PATCH', '', { webhook_url: `http://127.0.0.1:${await freePort()}/` });
  await bench.db.freeze();
  await bench.addMatches(id, 1);
  const { rows } = await bench.db.pool.query<{ now: Date }>('SELECT service_now() AS now');
  await startDeliverer();
  const first = await afterAttempts(1);
  expect(first).toMatchObject({ failures: 0 });
  expect(first.delivery).toMatchObject({
    state: 'retrying',
    pending: 1,
    oldest_pending_at: rows[0]!.now.toISOString(),
    last_status: 0,
    last_error: 'connect',
    last_delivered_at: null,
    attempt_failures_24h: 1,
  });
  for (const [step, wait] of ['30 s', '2 min'].entries()) {
    await bench.db.freeze(wait);
    expect((await afterAttempts(step + 2)).delivery).toMatchObject({ state: 'retrying' });
  }
  // Waits since 12.5 minutes; the daily count of permanent failures still says nothing.
  await bench.db.freeze('10 min');
  expect(await afterAttempts(4)).toMatchObject({
    failures: 0,
    delivery: { state: 'failing', attempt_failures_24h: 4 },
  });

  await owned('PATCH', '', { webhook_url: receiver.url });
  await bench.db.freeze('30 min');
  const { delivery: mended } = await afterAttempts(5);
  expect(mended).toMatchObject({
    state: 'ok',
    pending: 0,
    oldest_pending_at: null,
    last_status: 204,
    last_error: null,
    attempt_failures_24h: 4,
  });
  expect(Date.parse(mended.last_delivered_at!)).toBeGreaterThanOrEqual(Date.parse(mended.last_attempt_at!));
  await bench.db.freeze('24 h');
  expect((await shown()).delivery).toMatchObject({ state: 'ok', attempt_failures_24h: 0, last_status: 204 });
});

type Step = [name: string, act: () => Promise<unknown>];
const answered = (status: number) => async () => {
  answer = status;
  expect((await owned('POST', '/test')).body.status).toBe(status);
};

test('a failing webhook stays failing whatever happens but a successful test or another URL', async () => {
  const still: Step[] = [
    ['a test that is answered 500', answered(500)],
    ['a test that is redirected', answered(307)],
    ['a new rule', () => owned('PATCH', '', { keywords: ['tin'], exclude: ['can'], nsfw: true })],
    ['the same URL again', () => owned('PATCH', '', { webhook_url: receiver.url })],
    ['another kind', () => owned('PATCH', '', { webhook_kind: 'discord' })],
    ['a new secret', () => owned('POST', '/rotate-secret')],
    ['a pause', () => owned('POST', '/pause')],
    ['a resume', () => owned('POST', '/resume')],
  ];
  await setHealth(50, true);
  for (const [name, act] of still) {
    await act();
    expect([name, await health()]).toEqual([name, [50, true]]);
  }
  const cleared: Step[] = [
    ['a test that is answered 200', answered(200)],
    ['another path', () => owned('PATCH', '', { webhook_url: `${receiver.url}/other` })],
    ['a removal with null', () => owned('PATCH', '', { webhook_url: null })],
  ];
  for (const [name, act] of cleared) {
    await setHealth(50, true);
    await act();
    expect([name, await health()]).toEqual([name, [0, false]]);
  }
});
