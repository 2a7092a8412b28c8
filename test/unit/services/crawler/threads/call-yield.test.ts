import { expect, test } from 'vitest';
import { CallYield } from '../../../../../services/crawler/threads/call-yield.ts';

test('is the mean of the latest calls', () => {
  const calls = new CallYield();
  expect(calls.perCall).toBe(0);
  for (let n = 0; n < 100; n++) calls.note(n % 4);
  expect(calls.perCall).toBeCloseTo(1.5, 1);
  for (let n = 0; n < 2_000; n++) calls.note(5);
  expect(calls.perCall).toBeCloseTo(5, 1);
});
