import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocateLanes, DEFAULT_SHARES, laneLimits, LANES, mapLanes } from '../../../../shared/forum-client/lanes.ts';
import type { BudgetShares, LaneRates } from '../../../../shared/forum-client/lanes.ts';

const TOLERANCE = 1e-9;
const wanting = (rates: Partial<LaneRates>): LaneRates => mapLanes((lane) => rates[lane] ?? 0);
const total = (rates: LaneRates): number => LANES.reduce((sum, lane) => sum + rates[lane], 0);

const rate = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 50, noNaN: true }));
const rates = fc
  .array(rate, { minLength: LANES.length, maxLength: LANES.length })
  .map((all) => mapLanes((lane) => all[LANES.indexOf(lane)] ?? 0));
const shares: fc.Arbitrary<Required<BudgetShares>> = fc
  .array(fc.nat(100), { minLength: LANES.length, maxLength: LANES.length })
  .map((parts) => {
    const sum = parts.reduce((all, part) => all + part, 0);
    return mapLanes((lane) => (parts[LANES.indexOf(lane)] ?? 0) / Math.max(100, sum));
  });
const budget = fc.double({ min: 0, max: 100, noNaN: true });

describe('allocateLanes', () => {
  test.each<[string, Partial<LaneRates>, Partial<LaneRates>]>([
    ['live sources have their share, whatever readers want', { live: 3, reading: 20 }, { live: 3, reading: 7 }],
    ['readers have theirs, whatever live sources want', { live: 50, reading: 2 }, { live: 8, reading: 2 }],
    ['what live sources leave is lent to readers', { reading: 20 }, { reading: 10 }],
    ['threads come after readers, beyond their share', { reading: 9, threads: 5 }, { reading: 9, threads: 1 }],
    [
      'groups come after live sources, and before readers beyond their share',
      { live: 7, groups: 9, reading: 9 },
      { live: 7, groups: 1, reading: 2 },
    ],
    ['threads have their share of a crowded budget', { groups: 50, threads: 3 }, { groups: 9.01, threads: 0.99 }],
    [
      'audit has its share of a crowded budget',
      { live: 50, reading: 50, audit: 1 },
      { live: 7.8, reading: 2, audit: 0.2 },
    ],
    [
      'catching up comes before readers beyond their share',
      { live: 5, 'catch-up': 9, reading: 9 },
      { live: 5, 'catch-up': 3, reading: 2 },
    ],
  ])('%s', (_, wanted, granted) => {
    const allocated = allocateLanes(10, wanting(wanted), DEFAULT_SHARES);
    for (const lane of LANES) expect([lane, allocated[lane]]).toEqual([lane, expect.closeTo(granted[lane] ?? 0)]);
  });

  test('never exceeds the budget or the demand, never gives less than a share, and leaves nothing unused while there is demand', () => {
    fc.assert(
      fc.property(budget, rates, shares, (perSecond, wanted, parts) => {
        const granted = allocateLanes(perSecond, wanted, parts);
        expect(total(granted)).toBeCloseTo(Math.min(perSecond, total(wanted)), 6);
        for (const lane of LANES) expect(granted[lane]).toBeLessThanOrEqual(wanted[lane] + TOLERANCE);
        for (const lane of LANES) {
          expect(granted[lane]).toBeGreaterThanOrEqual(Math.min(wanted[lane], parts[lane] * perSecond) - TOLERANCE);
        }
      }),
    );
  });
});

describe('laneLimits of several processes', () => {
  test('together never exceed the budget while each calls no more than it reports', () => {
    fc.assert(
      fc.property(budget, fc.array(rates, { minLength: 1, maxLength: 5 }), shares, (perSecond, processes, parts) => {
        const called = processes.map((mine, index) => {
          const others = processes.filter((_, other) => other !== index);
          const limits = laneLimits(perSecond, { mine, others }, parts);
          return LANES.reduce((sum, lane) => sum + Math.min(mine[lane], limits[lane]), 0);
        });
        const all = processes.reduce((sum, mine) => sum + total(mine), 0);
        expect(called.reduce((sum, one) => sum + one, 0)).toBeCloseTo(Math.min(perSecond, all), 6);
      }),
    );
  });
});
