import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GroupPolling } from '../../../../../services/crawler/groups/group-polling.ts';
import type { CommunityRate } from '../../../../../shared/stores/crawl/community-rates.ts';
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

function rateOf(subreddit: string, comments: number): CommunityRate {
  return { subreddit, comments, posts: 0, checked: 1000, missed: 1000 };
}

describe('GroupPolling', () => {
  test('sees every comment of its communities with calls that bring most of a page', () => {
    const crawl = pollVirtually(CALM, 300_000);
    expect(unaccountedFor(crawl)).toEqual({ missed: 0, unaccounted: [] });
    expect(crawl.gaps).toEqual([]);
    expect(crawl.owed.size).toBe(RATES.length);
    expect(crawl.calls / 280).toBeLessThan(0.5);
  });

  test('leaves out a community for which the forum refuses the whole group, and no other', () => {
    const crawl = pollVirtually({ ...CALM, refused: ['c1', 'c20'] }, 120_000);
    expect(crawl.leftOut.sort()).toEqual(['c1', 'c20']);
    expect(crawl.owed.size).toBe(RATES.length - 2);
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

  /** Reads a page whose items are `everyMs` apart; every second one is shown for the first time. */
  function read(polling: GroupPolling, now: number, { from, everyMs }: { from: number; everyMs: number }) {
    const request = polling.next(now, 5);
    if ('waitMs' in request) throw new Error('no call is due');
    const items = Array.from({ length: 100 }, (_, k) => {
      return { name: `t1_${from - k}`, createdAt: now - everyMs * k, subreddit: 'a', postId: 'p' };
    });
    return polling.learn(request, { items, after: 'x', isNew: items.map((_, k) => k % 2 === 0) }, now);
  }

  test('measures how much the listing of all communities drops, by comments that had time to appear there', () => {
    const polling = new GroupPolling();
    polling.form([rateOf('a', 1)], 5, 0);
    const before = polling.loss;
    expect(read(polling, 0, { from: 1000, everyMs: 200 })).toEqual([]);
    const checked = read(polling, 100_000, { from: 1060, everyMs: 200 });
    // Of sixty new comments, the twenty-five of the last five seconds are too young.
    expect(checked).toHaveLength(35);
    expect(checked.filter(({ isMissed }) => isMissed)).toHaveLength(17);
    expect(polling.loss).toBeGreaterThan(before);
  });
});
