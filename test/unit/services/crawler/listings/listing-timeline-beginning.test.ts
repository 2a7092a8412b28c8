import { describe, expect, test } from 'vitest';
import type { Listed } from '../../../../../services/crawler/listed.ts';
import { ListingTimeline } from '../../../../../services/crawler/listings/listing-timeline.ts';

/** The `count` items before `end`, newest first, 100 of them created in each second; or all in second `createdIn`. */
function itemsBefore(end: number, count = 100, createdIn?: number): Listed[] {
  return Array.from({ length: count }, (_, index) => {
    const n = end - 1 - index;
    return { name: `t1_${n}`, createdAt: 1000 * (createdIn ?? Math.floor(n / 100)), subreddit: 'tea', postId: 'p' };
  });
}

/** A source without history that has read the page with item 2299, from second 22. */
function begun(): ListingTimeline {
  const timeline = new ListingTimeline();
  head(timeline, itemsBefore(2300), 1);
  return timeline;
}

function head(timeline: ListingTimeline, items: readonly Listed[], sequence: number) {
  return timeline.learn({ sequence, after: undefined, hole: undefined }, { items, after: items.at(-1)?.name }, 0);
}

/** Reads the hole of a listing that ends with item `oldest`. */
function readHole(timeline: ListingTimeline, oldest: number, createdIn?: number): void {
  for (let hole = timeline.holeToRead(0); hole; hole = timeline.holeToRead(0)) {
    const after = hole.cursor;
    const end = Number(after.slice(3));
    const items = itemsBefore(end, Math.min(100, end - oldest), createdIn);
    hole.isInFlight = true;
    timeline.learn(
      { sequence: 0, after, hole },
      { items, after: items.length < 100 ? undefined : items.at(-1)?.name },
      0,
    );
  }
}

describe('the beginning of a listing of 100 items a second', () => {
  test('an outdated page from just before the first one leaves no gap', () => {
    const timeline = begun();
    // Dates are whole seconds, so its place is decided by the order of the requests.
    expect(head(timeline, itemsBefore(2190), 2).outcome).toBe('overflow');
    readHole(timeline, 1300);
    expect(timeline.takeGaps()).toEqual([]);
    expect(head(timeline, itemsBefore(2390), 3).outcome).toBe('joined');
  });

  test("a hole is a gap although the forum's clock was set back meanwhile", () => {
    const timeline = begun();
    expect(head(timeline, itemsBefore(9000, 100, 25), 2).outcome).toBe('overflow');
    readHole(timeline, 8000, 16);
    expect(timeline.takeGaps()).toHaveLength(1);
  });
});
