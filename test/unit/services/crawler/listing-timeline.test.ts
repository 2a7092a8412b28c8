import { describe, expect, test } from 'vitest';
import type { Listed } from '../../../../services/crawler/crawl-source.ts';
import type { PageRequest } from '../../../../services/crawler/listing-timeline.ts';
import { ListingTimeline } from '../../../../services/crawler/listing-timeline.ts';

const MINUTE = 60_000;

/** Item n, created n seconds after the epoch. */
function item(n: number): Listed {
  return { name: `t1_${n}`, createdAt: 1000 * n };
}

/** `count` items, newest first: newest, newest - 1, … */
function items(newest: number, count = 100): Listed[] {
  return Array.from({ length: count }, (_, index) => item(newest - index));
}

function numberOf(name: string | undefined): number {
  return Number(name?.slice(3));
}

/** A timeline with the calls of a reader that makes them one after the other. */
class Reader {
  readonly timeline: ListingTimeline;
  now = 0;
  sequence = 0;

  constructor(timeline = new ListingTimeline()) {
    this.timeline = timeline;
  }

  head(page: Listed[], after: string | null = page.at(-1)?.name ?? null, sequence = ++this.sequence) {
    return this.timeline.learn(
      { sequence, after: undefined, hole: undefined },
      { items: page, after: after ?? undefined },
      this.now,
    );
  }

  /** Asks for the page into the next hole. */
  ask(): PageRequest | undefined {
    const hole = this.timeline.holeToRead(this.now);
    if (!hole) return undefined;
    hole.isInFlight = true;
    return { sequence: 0, after: hole.cursor, hole };
  }

  answer(request: PageRequest, page: Listed[], after: string | null = page.at(-1)?.name ?? null): void {
    this.timeline.learn(request, { items: page, after: after ?? undefined }, this.now);
  }

  /** Reads holes of a listing that ends after `oldest`; returns the number of calls. */
  readHoles(oldest = -Infinity): number {
    for (let calls = 0; ; calls++) {
      const request = this.ask();
      if (!request || calls > 100) return calls;
      const page = items(numberOf(request.after) - 1).filter(({ name }) => numberOf(name) >= oldest);
      this.answer(request, page, page.length < 100 ? null : undefined);
    }
  }
}

/** A reader whose newest known item is item 1. */
function readerAfterOne(): Reader {
  return new Reader(new ListingTimeline({ anchors: ['t1_0', 't1_1'], newestAt: 1000 }));
}

describe('ListingTimeline', () => {
  test('treats a listing that was empty before as complete only if one page shows all of it', () => {
    const empty = new Reader();
    expect(empty.head([]).outcome).toBe('first');
    expect(empty.timeline.hasHistory).toBe(false);
    expect(empty.head(items(5000, 60), null).outcome).toBe('first');
    expect(empty.timeline.takeGaps()).toEqual([]);
    const restarted = new Reader(new ListingTimeline({ anchors: [] }));
    restarted.head(items(5000));
    restarted.readHoles(4701);
    expect(restarted.timeline.takeGaps()).toMatchObject([{ afterThing: undefined, beforeThing: 't1_4701' }]);
  });

  test('tries two earlier cursors when the item of a cursor was deleted, and then reports a gap', () => {
    const reader = readerAfterOne();
    reader.head(items(5000));
    const cursors: (string | undefined)[] = [];
    for (let request = reader.ask(); request; request = reader.ask()) {
      cursors.push(request.after);
      reader.answer(request, []);
    }
    expect(cursors).toEqual(['t1_4904', 't1_4921', 't1_4941']);
    expect(reader.timeline.takeGaps()).toHaveLength(1);
  });

  test.each([
    ['the same page', items(4903)],
    ['only known items', items(5000, 50)],
  ])('ends with a gap when the forum returns %s repeatedly', (_, same) => {
    const reader = readerAfterOne();
    reader.head(items(5000));
    let calls = 0;
    for (let request = reader.ask(); request; request = reader.ask()) {
      calls += 1;
      reader.answer(request, same, 'more');
    }
    expect(calls).toBeLessThanOrEqual(4);
    expect(reader.timeline.takeGaps()).toHaveLength(1);
  });

  test('follows a listing that went back for good after a minute, with a gap', () => {
    const reader = new Reader();
    reader.head(items(9000));
    expect(reader.head(items(3000)).outcome).toBe('ignored');
    reader.now += MINUTE;
    expect(reader.head(items(3060)).outcome).toBe('overflow');
    reader.readHoles(2000);
    expect(reader.timeline.takeGaps()).toHaveLength(1);
    expect(reader.head(items(3100)).outcome).toBe('joined');
  });

  test('gives up a hole after 30 s, but not while the forum does not answer at all', () => {
    const reader = readerAfterOne();
    reader.head(items(5000));
    const hole = reader.ask();
    if (hole) reader.timeline.failed(hole, reader.now);
    expect(reader.ask()).toBeUndefined();
    reader.timeline.failed({ sequence: 9, after: undefined, hole: undefined }, reader.now);
    reader.now = 10 * MINUTE;
    reader.timeline.expire(reader.now);
    reader.head(items(5010));
    reader.now += 29_000;
    reader.timeline.expire(reader.now);
    expect(reader.timeline.openHoles).toBe(1);
    reader.now += 2_000;
    reader.timeline.expire(reader.now);
    expect(reader.timeline.takeGaps()).toMatchObject([{ afterThing: 't1_1', beforeThing: 't1_4901' }]);
    expect(reader.timeline.openHoles).toBe(0);
  });
});
