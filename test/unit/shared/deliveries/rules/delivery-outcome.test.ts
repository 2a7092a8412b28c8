import { expect, test } from 'vitest';
import { decideOutcome } from '../../../../../shared/deliveries/rules/delivery-outcome.ts';

test.each([
  [0, [30, 120, 600, 1_800, 7_200]],
  [1 - 2 ** -53, [33, 132, 660, 1_980, 7_920]],
])('the waits of the retry schedule with %d of the jitter, and then none', (random, waits) => {
  const delays = [0, 1, 2, 3, 4, 5].map((step) => decideOutcome({ error: null, status: 503 }, step, random).delayMs);
  expect(delays).toEqual([...waits.map((seconds) => seconds * 1_000), null]);
});
