import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VirtualGroupsOptions } from '../../../../support/fakes/virtual-groups.ts';
import { pollVirtually, unaccountedFor } from '../../../../support/fakes/virtual-groups.ts';

/** Three busy communities, thirty of some activity and 300 quiet ones: 18.4 comments a second. */
const RATES = [
  ...Array.from({ length: 3 }, () => 4),
  ...Array.from({ length: 30 }, () => 0.2),
  ...Array.from({ length: 300 }, () => 0.0015),
];
const CALM: VirtualGroupsOptions = {
  seed: 1,
  rates: RATES,
  factor: () => 1,
  failing: 0,
  stale: 0,
  vanishing: 0,
  outages: [],
  restarts: [],
  perSecond: 3,
};

describe('GroupPolling', () => {
  test('sees every comment of its communities with calls that bring most of a page', () => {
    const crawl = pollVirtually(CALM, 300_000);
    expect(unaccountedFor(crawl)).toEqual({ missed: 0, unaccounted: [] });
    expect(crawl.gaps).toEqual([]);
    expect(crawl.expected.size).toBe(RATES.length);
    expect(crawl.calls / 280).toBeLessThan(0.5);
  });

  test('leaves out a community for which the forum refuses the whole group, and no other', () => {
    const crawl = pollVirtually({ ...CALM, refused: ['c1', 'c20'] }, 120_000);
    expect(crawl.leftOut.sort()).toEqual(['c1', 'c20']);
    expect(crawl.expected.size).toBe(RATES.length - 2);
    expect(unaccountedFor(crawl).unaccounted).toEqual([]);
  });

  test('sees each comment or records it in a gap, whatever happens', () => {
    const times = fc.integer({ min: 30_000, max: 200_000 });
    const part = (max: number) => fc.double({ min: 0, max, noNaN: true });
    const schedules = fc.record({
      seed: fc.integer(),
      burstAt: times,
      burst: fc.integer({ min: 1, max: 20 }),
      failing: part(0.3),
      stale: part(0.1),
      vanishing: part(0.2),
      clockAheadMs: fc.constantFrom(0, 60_000, -60_000),
      outages: fc.array(fc.tuple(times, fc.integer({ min: 1_000, max: 100_000 })), { maxLength: 2 }),
      restarts: fc.array(times, { maxLength: 2 }),
      perSecond: fc.double({ min: 0.2, max: 4, noNaN: true }),
    });
    const property = fc.property(schedules, ({ burstAt, burst, outages, restarts, ...others }) => {
      const crawl = pollVirtually(
        {
          ...others,
          rates: RATES,
          factor: (elapsed) => (elapsed > burstAt && elapsed < burstAt + 20_000 ? burst : 1),
          outages: outages.map(([from, length]) => ({ from, to: from + length })),
          // With too few calls communities change between slow groups and others, which a restart does not remember.
          restarts: others.perSecond < 0.5 ? [] : restarts.sort((a, b) => a - b),
        },
        250_000,
      );
      expect(unaccountedFor(crawl).unaccounted).toEqual([]);
    });
    fc.assert(property, { numRuns: 25 });
  });
});
