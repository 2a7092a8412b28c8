import { expect, test } from 'vitest';
import type { AttemptResult } from '../../../../services/deliverer/dispatcher-deps.ts';
import { DispatcherBench as Bench, range } from '../../../support/fixtures/deliveries/dispatcher-fixture.ts';

const URL = 'https://one.example/x';
const PAUSE: AttemptResult = { kind: 'answered', afterMs: 0, status: 429, retryAfterMs: 5_000 };

/** A monitor of whose matches four are in flight; the first of these is refused for 5 s, the others are taken. */
async function heldBench(): Promise<Bench> {
  const bench = new Bench();
  bench.add('a', URL, range(20));
  bench.hintAll('a');
  await bench.settle();
  for (const [index, { end }] of bench.started.entries()) end(index === 0 ? PAUSE : undefined);
  await bench.settle();
  expect(bench.started).toHaveLength(4);
  return bench;
}

const due = (bench: Bench) => {
  bench.dispatcher.markDue({ monitorId: 'a', webhookUrl: URL, isAnswering: null });
  return bench.settle();
};

test('429 with Retry-After: 5: nothing is claimed for the URL for 5 s, neither by hints nor by the poller', async () => {
  const bench = await heldBench();
  const { claims } = bench;
  bench.now = 4_999;
  bench.dispatcher.addHint('a', 19);
  await due(bench);
  expect(bench.claims).toBe(claims);
  bench.now = 5_000;
  await due(bench);
  expect(bench.ids().slice(4)).toEqual(['a/5']);
});

test('another URL of the same origin, and another monitor with it, are served meanwhile', async () => {
  const bench = await heldBench();
  bench.add('b', 'https://one.example/y', range(8));
  bench.hintAll('b');
  await bench.drain();
  expect(bench.ids().slice(4)).toEqual(range(8).map((seq) => `b/${seq}`));
});

test('after the pause one attempt at a time is made, until the receiver has refused none for a while', async () => {
  const bench = await heldBench();
  bench.now = 5_000;
  await due(bench);
  for (let taken = 0; taken < 3; taken++) {
    expect(bench.started).toHaveLength(5 + taken);
    bench.started.at(-1)!.end();
    await bench.settle();
  }
  bench.now += 180_000;
  bench.started.at(-1)!.end();
  await bench.settle();
  expect(bench.started).toHaveLength(12);
});

test('hints of a held URL leave their places to others', async () => {
  const bench = new Bench({ hints: 6 });
  bench.add('a', URL, range(20));
  bench.hintAll('a');
  await bench.settle();
  bench.started[0]!.end(PAUSE);
  await bench.settle();
  await due(bench);
  const added = range(10).map((seq) => bench.dispatcher.addHint('b', seq));
  expect(added.filter(Boolean)).toHaveLength(6);
});

test('what was claimed when the pause began is released', async () => {
  const bench = new Bench();
  bench.add('a', URL, range(20));
  bench.dispatcher.addHint('a', 1);
  await bench.settle();
  bench.dispatcher.addHint('a', 2);
  bench.started[0]!.end(PAUSE);
  await bench.settle();
  expect([bench.ids(), bench.released]).toEqual([['a/1'], ['a/2']]);
});
