import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

/** Four at a time to each URL. */
const PER_URL = 4;

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(() => bench.reset());
afterAll(() => bench.db.drop());

/** Monitors with due matches, one for each URL. */
async function watch(urls: readonly string[], matches: number): Promise<string[]> {
  const ids: string[] = [];
  for (const url of urls) {
    const { id } = await bench.addMonitor(url);
    await bench.addMatches(id, matches);
    ids.push(id);
  }
  return ids;
}

const statesOf = async (ids: readonly string[]) => (await Promise.all(ids.map((id) => bench.states(id)))).flat();

test('while the disk takes claims but no outcomes nothing is sent again, and all is delivered when it has room', async () => {
  const { pool } = bench.db;
  await pool.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
  );
  await pool.query(
    'CREATE TRIGGER full_disk BEFORE INSERT ON delivery_attempts FOR EACH ROW EXECUTE FUNCTION refuse()',
  );
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  await bench.db.freeze();
  const ids = await watch(
    [1, 2, 3].map((path) => `${receiver.url}/${path}`),
    8,
  );
  const inFlight = ids.length * PER_URL;
  await bench.startDeliverer();
  const failures = async () => {
    const { values } = await bench.metrics.engineRetries.get();
    return values.reduce((sum, { labels, value }) => sum + (labels.work === 'delivering' ? value : 0), 0);
  };
  await eventually('outcomes cannot be stored', async () => (await failures()) >= 3 * inFlight);
  // All leases end, and the poller finds the matches due.
  await bench.db.freeze('21 seconds');
  await eventually('they were tried often', async () => (await failures()) >= 20 * inFlight);
  expect(receiver.received).toHaveLength(inFlight);
  await pool.query('DROP TRIGGER full_disk ON delivery_attempts');
  for (const id of ids) expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(24);
  expect(receiver.received).toHaveLength(24);
});

test('a receiver that takes 20 a second gets 60 matches with few refusals, and none of them fails', async () => {
  // None until a second has passed since the first of 20.
  let windowBegan = Number.NEGATIVE_INFINITY;
  let taken = 0;
  let refused = 0;
  const receiver = await bench.startReceiver((_, response) => {
    const now = performance.now();
    if (now - windowBegan >= 1_000) [windowBegan, taken] = [now, 0];
    if (taken++ < 20) response.writeHead(204).end();
    else {
      refused++;
      response.writeHead(429, { 'Retry-After': '1' }).end();
    }
  });
  await bench.db.freeze();
  const ids = await watch([receiver.url], 60);
  await bench.startDeliverer();
  await eventually('each match was attempted', async () => (await statesOf(ids)).every(({ attempt }) => attempt > 0));
  // Four were in flight when the receiver refused first; later one at a time is.
  expect(refused).toBeLessThanOrEqual(8);
  await bench.db.freeze('34 seconds');
  expect(new Set(await bench.settled(ids[0]!))).toEqual(new Set(['delivered']));
  expect(Math.max(...(await statesOf(ids)).map(({ attempt }) => attempt))).toBeLessThanOrEqual(3);
  expect(receiver.received).toHaveLength(60 + refused);
});

test('matches use up no attempts while the egress proxy is unavailable, and all are delivered when it is back', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const { port } = new URL(receiver.url);
  const proxyPort = await freePort();
  const origins = Array.from({ length: 30 }, (_, at) => `http://127.3.0.${at}:${port}/`);
  const ids = await watch(origins, 3);
  await bench.startDeliverer({ egressProxy: `http://127.0.0.1:${proxyPort}` });
  const faults = async () => {
    const { values } = await bench.metrics.deliveryLocalFaults.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const isPaused = async () => (await bench.metrics.deliveriesPaused.get()).values[0]?.value === 1;
  await eventually('all sending is paused', isPaused);
  const atPause = await faults();
  await eventually('some probes have failed', async () => (await faults()) >= atPause + 2);
  const untried = { delivery_status: 'pending', attempt: 0, ladder_step: 0 };
  expect(await statesOf(ids)).toMatchObject(Array.from({ length: 90 }, () => untried));
  const { rows } = await bench.db.pool.query(
    `SELECT monitor_id FROM delivery_attempts WHERE monitor_id = ANY ($1)
     UNION ALL SELECT monitor_id FROM monitor_health WHERE monitor_id = ANY ($1)`,
    [ids],
  );
  expect(rows).toEqual([]);

  const proxy = createServer();
  proxy.on('connect', (_request, socket) => {
    const upstream = connect(Number(port), '127.0.0.1');
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    upstream.once('connect', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(proxyPort, '127.0.0.1', resolve));
  onTestFinished(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
  const delivered = { delivery_status: 'delivered', attempt: 1 };
  for (const id of ids) expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
  expect(await statesOf(ids)).toMatchObject(Array.from({ length: 90 }, () => delivered));
  expect(receiver.received).toHaveLength(90);
  expect(await isPaused()).toBe(false);
});
