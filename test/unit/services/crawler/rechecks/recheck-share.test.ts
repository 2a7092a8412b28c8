import { expect, test } from 'vitest';
import { RecheckShare } from '../../../../../services/crawler/rechecks/recheck-share.ts';

const MINUTE = 60_000;

test('falls while the looks are behind, and rises again when they are in time', () => {
  const share = new RecheckShare();
  let now = 0;
  const adapt = (behindMs: number, times: number): number => {
    for (let time = 0; time < times; time++) share.adapt((now += MINUTE), behindMs);
    return share.share;
  };
  expect(adapt(0, 5)).toBe(1);
  expect(adapt(20 * MINUTE, 3)).toBeCloseTo(0.343);
  expect(adapt(5 * MINUTE, 10)).toBeCloseTo(0.343);
  expect(adapt(60 * MINUTE, 100)).toBe(0.001);
  expect(adapt(0, 200)).toBe(1);
  // More often than once a minute would be faster than a change shows.
  for (let time = 0; time < 70; time++) share.adapt((now += 1_000), 20 * MINUTE);
  expect(share.share).toBeCloseTo(0.7);
});
