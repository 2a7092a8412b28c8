import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VirtualListingOptions } from '../../../../support/fakes/virtual-listing.ts';
import { crawlVirtually, unaccountedFor } from '../../../../support/fakes/virtual-listing.ts';

const CALM: VirtualListingOptions = {
  seed: 1,
  rate: () => 132,
  roundTripMs: [100, 600],
  failing: 0,
  stale: 0,
  vanishing: 0,
  late: 0,
  outages: [],
  restarts: [],
  perSecond: 12,
};

/** Twenty times the rate for `ms` from `from`. */
function burst(rate: number, from: number, ms: number): (elapsedMs: number) => number {
  return (elapsed) => (elapsed >= from && elapsed < from + ms ? 20 * rate : rate);
}

describe('ListingPolling on a sliding listing', () => {
  test.each([
    [132, [100, 100]],
    [132, [300, 300]],
    [132, [550, 650]],
    [300, [100, 100]],
    [300, [300, 300]],
    [300, [550, 650]],
    [500, [100, 600]],
  ] as const)('misses nothing at %i items a second and %j ms a call', (rate, roundTripMs) => {
    const crawl = crawlVirtually({ ...CALM, rate: () => rate, roundTripMs }, 60_000);
    expect(unaccountedFor(crawl)).toEqual({ missed: 0, unaccounted: [] });
    expect(crawl.gaps).toEqual([]);
    expect(crawl.to - crawl.from).toBeGreaterThan(45 * rate);
    // About 65 of the hundred items on a page are new.
    expect(crawl.calls / 50).toBeLessThan(Math.max(2.7, rate / 50));
  });

  test('records no gap for outdated pages, deletions, late items and single failures', () => {
    const property = fc.property(fc.integer(), fc.integer({ min: 5, max: 200 }), (seed, rate) => {
      const odd = { failing: 0.02, stale: 0.05, vanishing: 0.02, late: 0.02 };
      const crawl = crawlVirtually({ ...CALM, ...odd, seed, rate: () => rate }, 40_000);
      expect(unaccountedFor(crawl)).toEqual({ missed: 0, unaccounted: [] });
      expect(crawl.gaps).toEqual([]);
    });
    // The first answers failed, and an outdated page from before them looked like a newer one.
    fc.assert(property, { numRuns: 60, examples: [[-1062513811, 181]] });
  });

  test('reads the hole after an outage whose items the listing still holds', () => {
    const crawl = crawlVirtually({ ...CALM, outages: [{ from: 20_000, to: 24_000 }] }, 60_000);
    expect(unaccountedFor(crawl).missed).toBe(0);
    expect(crawl.gaps).toEqual([]);
  });

  test('reads the hole after an outage on a slow forum with a small budget', () => {
    const slow = { ...CALM, rate: () => 5, perSecond: 0.4, outages: [{ from: 20_000, to: 100_000 }] };
    const crawl = crawlVirtually(slow, 160_000);
    expect(unaccountedFor(crawl).missed).toBe(0);
    expect(crawl.gaps).toEqual([]);
  });

  test('spends a budget that is too small on newest pages', () => {
    const crawl = crawlVirtually({ ...CALM, perSecond: 1 }, 60_000);
    expect(unaccountedFor(crawl).unaccounted).toEqual([]);
    expect(crawl.calls).toBeLessThanOrEqual(53);
    expect(crawl.seen.size).toBeGreaterThan(0.9 * 100 * crawl.calls);
  });

  test('shows each item or records it in a gap, whatever happens', { timeout: 120_000 }, () => {
    const times = fc.integer({ min: 12_000, max: 50_000 });
    const part = (max: number) => fc.double({ min: 0, max, noNaN: true });
    const schedules = fc.record({
      seed: fc.integer(),
      rate: fc.integer({ min: 1, max: 400 }),
      burstAt: times,
      burstMs: fc.integer({ min: 0, max: 3_000 }),
      roundTripMs: fc.tuple(fc.integer({ min: 50, max: 600 }), fc.integer({ min: 0, max: 2_000 })),
      failing: part(0.5),
      stale: part(0.3),
      vanishing: part(0.3),
      late: part(0.2),
      outages: fc.array(fc.tuple(times, fc.integer({ min: 200, max: 40_000 })), { maxLength: 2 }),
      restarts: fc.array(times, { maxLength: 3 }),
      perSecond: fc.double({ min: 0.3, max: 15, noNaN: true }),
    });
    const property = fc.property(schedules, ({ rate, burstAt, burstMs, roundTripMs, outages, restarts, ...others }) => {
      const crawl = crawlVirtually(
        {
          ...others,
          rate: burst(rate, burstAt, burstMs),
          roundTripMs: [roundTripMs[0], roundTripMs[0] + roundTripMs[1]],
          outages: outages.map(([from, length]) => ({ from, to: from + length })),
          restarts: restarts.sort((a, b) => a - b),
        },
        90_000,
      );
      expect(unaccountedFor(crawl).unaccounted).toEqual([]);
    });
    fc.assert(property, { numRuns: 150 });
  });
});
