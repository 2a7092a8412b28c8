import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CooperativeYield } from '../../../../shared/runtime/cooperative-yield.ts';

test('while a slice lasts work goes on without a turn of the event loop', async () => {
  const cooperativeYield = new CooperativeYield(60_000);
  await cooperativeYield.pause();
  let turned = false;
  const turn = setImmediate().then(() => (turned = true));
  for (let times = 0; times < 100; times++) await cooperativeYield.pause();
  expect(turned).toBe(false);
  await turn;
});

test('computations at the same time take turns, and the event loop goes round between any two of them', async () => {
  const cooperativeYield = new CooperativeYield(0);
  const order: string[] = [];
  const compute = async (name: string) => {
    for (let times = 0; times < 3; times++) {
      await cooperativeYield.pause();
      order.push(name);
    }
  };
  const done = new AbortController();
  const others = (async () => {
    while (!done.signal.aborted) {
      await setImmediate();
      order.push('-');
    }
  })();
  await Promise.all([compute('a'), compute('b')]);
  done.abort();
  await others;
  expect(order.join('').replaceAll(/-+/g, '-')).toMatch(/^-?a-b-a-b-a-b-?$/);
});
