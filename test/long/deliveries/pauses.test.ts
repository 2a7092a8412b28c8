import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const MATCHES = 60;
/** The receiver takes so many, and then none until a second has passed since the first of them. */
const AT_ONCE = 20;

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(() => bench.reset());
afterAll(() => bench.db.drop());

test('a receiver that takes 20 a second gets 60 matches with few refusals, and none of them fails', async () => {
  let windowBegan = Number.NEGATIVE_INFINITY;
  let taken = 0;
  let refused = 0;
  const limited = (response: ServerResponse) => {
    const now = performance.now();
    if (now - windowBegan >= 1_000) [windowBegan, taken] = [now, 0];
    if (taken < AT_ONCE) {
      taken++;
      response.writeHead(204).end();
    } else {
      refused++;
      response.writeHead(429, { 'Retry-After': '1' }).end();
    }
  };
  const receiver = await bench.startReceiver((_, response) => {
    limited(response);
  });
  const { id } = await bench.addMonitor(receiver.url);
  await bench.db.freeze();
  await bench.addMatches(id, MATCHES);
  await bench.startDeliverer();
  await eventually('each match was attempted', async () =>
    (await bench.states(id)).every(({ attempt }) => attempt > 0),
  );
  // Four were in flight when the receiver refused first; later one at a time is.
  expect(refused).toBeLessThanOrEqual(8);
  await bench.db.freeze('34 seconds');
  expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
  expect(Math.max(...(await bench.states(id)).map(({ attempt }) => attempt))).toBeLessThanOrEqual(3);
  expect(receiver.received).toHaveLength(MATCHES + refused);
}, 60_000);
