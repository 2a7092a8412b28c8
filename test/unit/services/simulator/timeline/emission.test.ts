import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

const RATE = 50;

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await RunningSimulator.start({ rate: RATE, holes: 0 });
});

afterAll(() => simulator.stop());

/** Slots that are emitted in this many seconds. */
function emittedIn(seconds: number): number {
  const { timeline, emission } = simulator.world;
  const before = timeline.frontier;
  for (let second = 0; second < seconds; second++) {
    simulator.clock += 1000;
    emission.advance();
  }
  return timeline.frontier - before;
}

test('changes its rate while it runs, and what it has emitted stays as it was', async () => {
  const { timeline } = simulator.world;
  const seen = () => Array.from({ length: 40 }, (_, i) => timeline.frontier - 40 + i);
  const before = seen().map((k) => [k, timeline.nameOf(k), timeline.emittedAt(k)] as const);
  expect(emittedIn(10)).toBe(10 * RATE);

  expect(await (await simulator.control('rate', { rate: 300 })).json()).toEqual({ rate: 300 });
  expect(emittedIn(10)).toBe(3000);
  await simulator.control('rate', { rate: 0 });
  expect(emittedIn(10)).toBe(0);
  await simulator.control('rate', { rate: RATE });
  expect(emittedIn(10)).toBe(10 * RATE);

  expect(before.map(([k]) => [k, timeline.nameOf(k), timeline.emittedAt(k)])).toEqual(before);
  const times = Array.from({ length: 4000 }, (_, i) => timeline.emittedAt(timeline.frontier - 4000 + i)!);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test.each([{ rate: -1 }, { rate: 20_001 }, { rate: '300' }, {}])('refuses %j', async (body) => {
  const answer = await simulator.control('rate', body);
  expect(answer.status).toBe(400);
});
