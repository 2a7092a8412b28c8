import { expect, test } from 'vitest';
import { TokenBucket } from '../../../../../shared/upstream/budget/token-bucket.ts';

const NOW = 10_000_000;

test('refills at its rate, also after the clock was set back', () => {
  const bucket = new TokenBucket();
  bucket.setRate(1, 4, NOW);
  for (let call = 0; call < 4; call++) bucket.take(NOW);
  expect(bucket.waitMs(NOW)).toBe(1_000);
  const setBack = NOW - 3_600_000;
  expect(bucket.waitMs(setBack)).toBe(1_000);
  expect(bucket.waitMs(setBack + 600)).toBeCloseTo(400);
  expect(bucket.waitMs(setBack + 1_000)).toBe(0);
});
