import { describe, expect, test } from 'vitest';
import type { Listed } from '../../../../../services/crawler/listings/listing-pass.ts';
import { ListingPass } from '../../../../../services/crawler/listings/listing-pass.ts';

/** Item n, created n seconds after the epoch. */
function item(n: number): Listed {
  return { name: `t1_${n}`, createdAt: 1000 * n };
}

/** `count` items, newest first: newest, newest - 1, … */
function page(newest: number, count: number): Listed[] {
  return Array.from({ length: count }, (_, index) => item(newest - index));
}

/** A pass whose newest known item is item 1. */
function passAfterOne(): ListingPass {
  return new ListingPass({ anchors: ['t1_0', 't1_1'], newestAt: 1000 });
}

/** Reads pages of 100 of a listing whose newest item is `newest` until the pass ends. Returns the outcome per page. */
function read(pass: ListingPass, newest: number, depth = 1000): string[] {
  const outcomes: string[] = [];
  for (;;) {
    const top = pass.cursor === undefined ? newest : Number(pass.cursor.slice(3)) - 1;
    const items = page(top, Math.min(100, depth - (newest - top)));
    const isLast = newest - top + items.length >= depth;
    const verdict = pass.judge(items, isLast ? undefined : items.at(-1)?.name);
    outcomes.push(verdict.outcome);
    pass.accept(items, verdict);
    if (verdict.outcome !== 'deeper') return outcomes;
  }
}

describe('ListingPass', () => {
  test('reads one page if the source has no history', () => {
    expect(read(new ListingPass(), 5000)).toEqual(['complete']);
  });

  test('ends at the first page that contains a known item', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5099)).toEqual(['joined']);
    expect(read(pass, 5099)).toEqual(['joined']);
  });

  test('reads older pages until one contains a known item', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5350)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
    expect(read(pass, 5351)).toEqual(['joined']);
  });

  test('reports a gap when a thousand items do not reach a known one', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 7000)).toEqual([...Array.from({ length: 9 }, () => 'deeper'), 'gap']);
    expect(read(pass, 7001)).toEqual(['joined']);
  });

  test('reports both bounds of a gap with their creation times', () => {
    const pass = passAfterOne();
    for (let n = 0; n < 9; n++) {
      const items = page(9000 - 100 * n, 100);
      pass.accept(items, pass.judge(items, items.at(-1)?.name));
    }
    expect(pass.judge(page(8100, 100), undefined)).toEqual({
      outcome: 'gap',
      missed: { afterThing: 't1_1', afterAt: 1_000, beforeThing: 't1_8001', beforeAt: 8_100_000 },
    });
  });

  test.each([
    ['a page', 40],
    ['three pages', 250],
    ['nine pages', 899],
  ])('reports a gap when the listing ends without a known item after %s', (_, depth) => {
    expect(read(passAfterOne(), 5000, depth).at(-1)).toBe('gap');
  });

  test('treats a listing that was empty before as complete only if one page shows all of it', () => {
    const pass = new ListingPass();
    expect(read(pass, 0, 0)).toEqual(['complete']);
    expect(read(new ListingPass({ anchors: [] }), 5000, 100)).toEqual(['complete']);
    expect(read(pass, 5000, 300)).toEqual(['deeper', 'deeper', 'gap']);
  });

  test('does not join an interrupted pass after a restart', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    const first = page(5350, 100);
    pass.accept(first, pass.judge(first, first.at(-1)?.name));
    const restarted = new ListingPass(pass.position());
    expect(restarted.judge(first, first.at(-1)?.name).outcome).toBe('deeper');
    expect(read(restarted, 5360)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
  });

  test('joins although the newest known item and most others were deleted', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(pass.judge([...page(5090, 90), item(4905)], 't1_4905').outcome).toBe('joined');
  });

  test('tries an earlier cursor once when the item of the cursor was deleted, and then reports a gap', () => {
    const pass = passAfterOne();
    const first = page(5000, 100);
    pass.accept(first, pass.judge(first, first.at(-1)?.name));
    const cursors: (string | undefined)[] = [];
    let outcome: string;
    do {
      cursors.push(pass.cursor);
      const verdict = pass.judge([], undefined);
      outcome = verdict.outcome;
      pass.accept([], verdict);
    } while (outcome === 'deeper');
    expect(cursors).toEqual(['t1_4901', 't1_4921']);
    expect(outcome).toBe('gap');
    expect(pass.cursor).toBeUndefined();
  });

  test('tries an earlier cursor again after each page that contains new items', () => {
    const pass = passAfterOne();
    const accept = (items: Listed[], after?: string) => {
      const verdict = pass.judge(items, after);
      pass.accept(items, verdict);
      return verdict.outcome;
    };
    for (let top = 5000; top > 4000; top -= 80) {
      expect(accept(page(top, 100), `t1_${top - 99}`)).toBe('deeper');
      expect(accept([])).toBe('deeper');
      expect(pass.cursor).toBe(`t1_${top - 79}`);
    }
  });

  test('ends with a gap when the forum returns the same page repeatedly', () => {
    const pass = passAfterOne();
    const same = page(5000, 100);
    const outcomes: string[] = [];
    do {
      const verdict = pass.judge(same, 't1_4901');
      outcomes.push(verdict.outcome);
      pass.accept(same, verdict);
    } while (outcomes.at(-1) === 'deeper');
    expect(outcomes).toEqual(['deeper', 'deeper', 'gap']);
  });

  test("ends when the forum's cursors never end", () => {
    const pass = passAfterOne();
    expect(read(pass, 50_000, 40_000).length).toBeLessThan(40);
  });

  test('ignores an outdated page from a cache', () => {
    const pass = new ListingPass();
    for (let newest = 5000; newest <= 9000; newest += 50) read(pass, newest);
    expect(read(pass, 5500)).toEqual(['joined']);
    expect(pass.position()).toMatchObject({ newestAt: 9_000_000 });
    expect(pass.position().anchors.at(-1)).toBe('t1_9000');
    expect(read(pass, 9050)).toEqual(['joined']);
  });

  test('counts new items', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(pass.countNew(page(5030, 100))).toBe(30);
  });
});
