import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backOffMs } from '../../../../../services/crawler/back-off.ts';
import { ListingSource } from '../../../../../services/crawler/listings/listing-source.ts';
import { Pace } from '../../../../../services/crawler/pace.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import type { CrawlGap } from '../../../../../shared/stores/crawl/crawl-gaps.ts';
import { fullnameOf } from '../../../../../shared/upstream/parsing/thing-schema.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';
import { numberOf, SlidingListing, unaccounted } from '../../../../support/fakes/sliding-listing.ts';
import type { SlidingListingOptions } from '../../../../support/fakes/sliding-listing.ts';

const HOUR = 3_600_000;
const signal = new AbortController().signal;

interface Crawl {
  listing: SlidingListing;
  seen: Set<number>;
  gaps: CrawlGap[];
  /** The first comment that the crawl had to find. */
  from: number;
  /** A finished pass has reached every comment below this one. */
  to: number;
}

/**
 * Crawls a listing until `untilMs` of the listing's clock, as the runner does: with back-off after failures, and with a
 * restart at each of the times in `restarts`.
 */
async function crawl(options: SlidingListingOptions, untilMs: number, restarts: number[] = []): Promise<Crawl> {
  const listing = new SlidingListing(options);
  const gaps: CrawlGap[] = [];
  const seen = new Set<number>();
  const source = new ListingSource(
    { name: 'listings:comments', path: '/r/all/comments', endpoint: 'listing-comments', intervalMs: 400 },
    {
      upstream: {
        get: (path, params) => listing.get(path, params),
        post: () => Promise.reject(new Error('the crawler never posts')),
        perSecond: () => 10,
        stop: () => Promise.resolve(),
      },
      pace: new Pace(() => 10),
      metrics: createMetrics(),
      logger: silentLogger(),
      clock: () => listing.now,
      recordGap: (gap) => gaps.push(gap),
    },
  );
  await source.begin(undefined);
  const pendingRestarts = [...restarts];
  let failingSince: number | undefined;
  listing.now += 10_000;
  const from = listing.frontier;
  while (listing.elapsed < untilMs) {
    if (pendingRestarts[0] !== undefined && listing.elapsed >= pendingRestarts[0]) {
      pendingRestarts.shift();
      await source.begin(JSON.parse(JSON.stringify(source.position())));
    }
    const step = source.next(listing.now);
    if ('waitMs' in step) {
      listing.now += step.waitMs;
      continue;
    }
    try {
      const fetched = await step.fetch(signal);
      for (const thing of fetched.things) seen.add(numberOf(fullnameOf(thing)));
      fetched.acknowledged();
      failingSince = undefined;
    } catch (error) {
      step.failed(error);
      if (!(error instanceof UpstreamError)) throw error;
      failingSince ??= listing.now;
      listing.now += backOffMs(error, listing.now - failingSince, 0.5);
    }
  }
  const { anchors } = source.position() as { anchors: string[] };
  return { listing, seen, gaps, from, to: numberOf(anchors.at(-1)!) };
}

describe('ListingSource, while the listing slides during a pass', () => {
  test.each([300, 350, 400, 450, 500, 550, 600])(
    'records every unseen comment as a gap after an outage of an hour at 132 comments a second and %i ms a call',
    async (roundTripMs) => {
      const outages = [{ from: 30_000, to: 30_000 + HOUR }];
      const result = await crawl({ rate: 132, roundTripMs: () => roundTripMs, outages }, 30_000 + HOUR + 60_000);
      const { lost, withoutRow, outOfDates } = unaccounted(result.listing, result);
      expect(lost).toBeGreaterThan(470_000);
      expect({ withoutRow, outOfDates }).toEqual({ withoutRow: 0, outOfDates: 0 });
    },
  );

  test('records no gap while it reads as fast as the listing moves', async () => {
    const { gaps, listing, ...rest } = await crawl({ rate: 132, roundTripMs: () => 300 }, 120_000);
    expect(gaps).toEqual([]);
    expect(unaccounted(listing, { gaps, ...rest }).lost).toBe(0);
  });

  test('sees each comment or records it in a gap, for random rates, latencies, outages, restarts and deletions', async () => {
    const times = fc.integer({ min: 12_000, max: 90_000 });
    const property = fc.asyncProperty(
      fc.record({
        rate: fc.integer({ min: 100, max: 320 }),
        trips: fc.array(fc.integer({ min: 300, max: 600 }), { minLength: 1, maxLength: 20 }),
        outages: fc.array(fc.tuple(times, fc.integer({ min: 200, max: 40_000 })), { maxLength: 3 }),
        restarts: fc.array(times, { maxLength: 2 }).map((list) => list.sort((a, b) => a - b)),
        vanishing: fc.integer({ min: 5, max: 200 }),
        late: fc.integer({ min: 5, max: 200 }),
      }),
      async ({ rate, trips, outages, restarts, vanishing, late }) => {
        let call = 0;
        const isLate = (k: number) => k % late === 0;
        const options = {
          rate,
          roundTripMs: () => trips[call++ % trips.length]!,
          outages: outages.map(([from, length]) => ({ from, to: from + length })),
          vanishes: (k: number) => k % vanishing === 1,
          lateMs: (k: number) => (isLate(k) ? 1_000 + (k % 19_000) : 0),
        };
        const { listing, ...result } = await crawl(options, 100_000, restarts);
        const { withoutRow, outOfDates } = unaccounted(listing, { ...result, isLate });
        // A comment that was deleted before any page showed it cannot be found: count it only with its neighbours.
        const vanished = unaccountedVanished(listing, result, vanishing);
        expect({ withoutRow: withoutRow - vanished, outOfDates }).toEqual({ withoutRow: 0, outOfDates: 0 });
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });
});

function unaccountedVanished(listing: SlidingListing, result: Omit<Crawl, 'listing'>, vanishing: number): number {
  const others = new Set(result.seen);
  for (let k = result.from; k < result.to; k++) if (k % vanishing !== 1) others.add(k);
  return unaccounted(listing, { ...result, seen: others }).withoutRow;
}
