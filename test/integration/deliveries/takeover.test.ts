import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { claimDueMatches } from '../../../shared/stores/deliveries/deliveries.ts';
import { readDueMonitors } from '../../../shared/stores/deliveries/delivery-queue.ts';
import { recordOutcomes } from '../../../shared/stores/deliveries/delivery-outcomes.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(async () => {
  await bench.reset();
});
afterAll(async () => {
  await bench.db.drop();
});

const deliveryIds = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => headers['x-service-delivery']);

async function attemptsOf(monitorId: string) {
  const { rows } = await bench.db.pool.query<Record<string, unknown>>(
    `SELECT attempt, status, error, host, response_excerpt, delivery_status, published_at IS NOT NULL AS is_published
     FROM delivery_attempts WHERE monitor_id = $1 ORDER BY seq, attempt`,
    [monitorId],
  );
  return rows;
}

async function healthOf(monitorId: string) {
  const { rows } = await bench.db.pool.query<{ failures: number; webhook_failing: boolean }>(
    'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1',
    [monitorId],
  );
  return rows[0];
}

test('never has two attempts of one match in flight, with two deliverers on a slow endpoint', async () => {
  const inFlight = new Map<string, number>();
  let maxInFlight = 0;
  let overlaps = 0;
  const receiver = await bench.startReceiver(({ headers }, response) => {
    const match = String(headers['x-service-delivery']);
    inFlight.set(match, (inFlight.get(match) ?? 0) + 1);
    if (inFlight.get(match)! > 1) overlaps++;
    maxInFlight = Math.max(maxInFlight, [...inFlight.values()].filter((count) => count > 0).length);
    setTimeout(() => {
      inFlight.set(match, inFlight.get(match)! - 1);
      response.writeHead(204).end();
    }, 60);
  });
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 100);
  await Promise.all([bench.startDeliverer(), bench.startDeliverer()]);
  await bench.publishHints(
    id,
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  await bench.settled(id);
  expect(overlaps).toBe(0);
  expect(receiver.received).toHaveLength(100);
  expect(new Set(deliveryIds(receiver.received)).size).toBe(100);
  // Four per process.
  expect(maxInFlight).toBeGreaterThan(2);
  expect(maxInFlight).toBeLessThanOrEqual(8);
});

test('claims the matches of a killed deliverer when their leases have ended, and ignores its late outcomes', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 1);
  const leaseToken = randomUUID();
  const lease = { token: leaseToken, lengthMs: 20_000 };
  await bench.db.freeze();
  expect(await claimDueMatches(bench.db.pool, [{ monitorId: id, limit: 4 }], lease)).toHaveLength(1);
  await bench.startDeliverer();
  await bench.publishHints(id, [1]);
  await wait(1_500);
  expect(receiver.received).toHaveLength(0);

  await bench.db.freeze('21 seconds');
  expect(await bench.settled(id)).toEqual(['delivered']);
  const late = {
    monitorId: id,
    seq: 1,
    leaseToken,
    webhookKind: 'generic' as const,
    isResent: false,
    webhookUrl: receiver.url,
    host: 'late.example',
    durationMs: 9_000,
    httpStatus: 404,
    error: 'http_status',
    responseExcerpt: null,
    deliveryStatus: 'failed' as const,
    delayMs: null,
  };
  expect(await recordOutcomes(bench.db.pool, [late])).toEqual([undefined]);
  expect(await bench.settled(id)).toEqual(['delivered']);
  expect(await healthOf(id)).toBeUndefined();
  expect(await attemptsOf(id)).toHaveLength(1);
});

test('what a deliverer claimed before it was killed, while the clock was ahead, is claimed a whole lease later', async () => {
  const { pool } = bench.db;
  const { id } = await bench.addMonitor('https://receiver.example/');
  await bench.addMatches(id, 1);
  const isDue = async () => (await readDueMonitors(pool, '', 100)).due.some(({ monitorId }) => monitorId === id);
  const claim = () => claimDueMatches(pool, [{ monitorId: id, limit: 4 }], { token: randomUUID(), lengthMs: 20_000 });
  await bench.db.setShift('1 hour');
  expect(await claim()).toHaveLength(1);
  expect(await isDue()).toBe(false);
  await bench.db.setShift('0');
  expect(await isDue()).toBe(true);
  // The attempt may be under way: its lease lasts.
  expect(await claim()).toEqual([]);
  expect(await isDue()).toBe(false);
  await bench.db.setShift('21 seconds');
  expect(await isDue()).toBe(true);
  expect(await claim()).toHaveLength(1);
});

test('on stop ends the attempts in flight and releases the other matches for the next deliverer at once', async () => {
  let answerAll = () => undefined as unknown;
  const answering = new Promise((resolve) => (answerAll = () => resolve(undefined)));
  const receiver = await bench.startReceiver((_, response) => {
    void answering.then(() => response.writeHead(204).end());
  });
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 8);
  const deliverer = await bench.startDeliverer();
  await eventually('four attempts are in flight', () => receiver.received.length === 4);
  const stopping = deliverer.stop();
  await wait(200);
  answerAll();
  await stopping;
  const states = await bench.states(id);
  expect(states.map((state) => state.delivery_status)).toEqual([
    ...Array<string>(4).fill('delivered'),
    ...Array<string>(4).fill('pending'),
  ]);
  expect(states.some((state) => state.is_leased)).toBe(false);
  expect(receiver.received).toHaveLength(4);
});

test('publishes attempts that a killed deliverer stored but did not publish', async () => {
  const { id } = await bench.addMonitor('https://receiver.example/');
  await bench.db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, seq, 1, service_now() - interval '2 minutes', 5, 'generic', 'receiver.example', 200, 'delivered'
     FROM generate_series(1, 3) AS seq`,
    [id],
  );
  await bench.startDeliverer();
  await eventually('all are published', async () => (await attemptsOf(id)).every(({ is_published }) => is_published));
  const published = await bench.metrics.kafkaPublished.get();
  expect(published.values.map(({ value }) => value)).toEqual([3]);
});
