import { expect, test } from 'vitest';
import type { BudgetShares } from '../../../../../shared/upstream/budget/lanes.ts';
import { DEFAULT_SHARES, LANES, mapLanes, withSweepShares } from '../../../../../shared/upstream/budget/lanes.ts';

test('mapLanes computes a rate for every lane, in order of precedence', () => {
  expect(Object.entries(mapLanes((lane) => LANES.indexOf(lane)))).toEqual(LANES.map((lane, index) => [lane, index]));
});

test('the default shares belong to lanes and are together less than the budget', () => {
  for (const lane of Object.keys(DEFAULT_SHARES)) expect(LANES).toContain(lane);
  expect(total(DEFAULT_SHARES)).toBeLessThan(1);
});

test.each([
  { live: 0.6, reading: 0.2, audit: 0.02 },
  { live: 0.8, reading: 0.2, audit: 0 },
  { live: 0, reading: 0, audit: 0 },
])('threads and rechecks share what $live, $reading and $audit leave', (reserved) => {
  const shares = withSweepShares(reserved);
  expect(shares).toMatchObject(reserved);
  const rest = 1 - reserved.live - reserved.reading - reserved.audit;
  expect(total(shares)).toBeLessThanOrEqual(1 + 1e-9);
  expect(shares.threads).toBeCloseTo(0.55 * rest);
  expect(shares.recheck).toBeCloseTo(0.15 * rest);
});

function total(shares: BudgetShares): number {
  return Object.values(shares).reduce((sum, share) => sum + share, 0);
}
