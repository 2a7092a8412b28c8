import { describe, expect, test } from 'vitest';
import type { Listed } from '../../../../../services/crawler/listings/listing-pass.ts';
import { ListingPass } from '../../../../../services/crawler/listings/listing-pass.ts';

/** Item n, created n seconds after the beginning of time. */
function item(n: number): Listed {
  return { name: `t1_${n}`, createdAt: 1000 * n };
}

/** Items n, n-1, … newest first. */
function page(newest: number, count: number): Listed[] {
  return Array.from({ length: count }, (_, index) => item(newest - index));
}

/** A pass that knows item 1, and some before it. */
function passAfterOne(): ListingPass {
  return new ListingPass({ anchors: ['t1_0', 't1_1'], newestAt: 1000 });
}

/** Reads and accepts pages of 100 of a listing whose newest item is `newest`, until the pass ends; the verdicts. */
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

describe('a pass over a listing', () => {
  test('takes one page of a source without history', () => {
    expect(read(new ListingPass(), 5000)).toEqual(['complete']);
  });

  test('ends at the first page that reaches what was seen', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5099)).toEqual(['joined']);
    expect(read(pass, 5099)).toEqual(['joined']);
  });

  test('goes deeper over a page full of new items until it joins', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5350)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
    expect(read(pass, 5351)).toEqual(['joined']);
  });

  test('reports a gap when a thousand items do not reach back', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 7000)).toEqual([...Array.from({ length: 9 }, () => 'deeper'), 'gap']);
    expect(read(pass, 7001)).toEqual(['joined']);
  });

  test('names both sides of a gap, and when they were created', () => {
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
    ['almost all of it', 899],
  ])('takes the end of a listing for a gap, though it showed only %s before it slid away', (_, depth) => {
    expect(read(passAfterOne(), 5000, depth).at(-1)).toBe('gap');
  });

  test('takes a listing that was empty before for whole when one page shows all of it, and only then', () => {
    const pass = new ListingPass();
    expect(read(pass, 0, 0)).toEqual(['complete']);
    expect(read(new ListingPass({ anchors: [] }), 5000, 100)).toEqual(['complete']);
    expect(read(pass, 5000, 300)).toEqual(['deeper', 'deeper', 'gap']);
  });

  test('does not take an interrupted pass for a finished one', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    const first = page(5350, 100);
    pass.accept(first, pass.judge(first, first.at(-1)?.name));
    const restarted = new ListingPass(pass.position());
    expect(restarted.judge(first, first.at(-1)?.name).outcome).toBe('deeper');
    expect(read(restarted, 5360)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
  });

  test('joins although the newest item seen, and most others, vanished', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(pass.judge([...page(5090, 90), item(4905)], 't1_4905').outcome).toBe('joined');
  });

  test('tries an earlier item once when the one it went on from vanished, and then owns up to a gap', () => {
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

  test('goes on after a vanished cursor as often as that brings something', () => {
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

  test('ends where the forum answers with the same page again and again', () => {
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

  test('ends where the cursors of the forum never do', () => {
    const pass = passAfterOne();
    expect(read(pass, 50_000, 40_000).length).toBeLessThan(40);
  });

  test('passes over an old page out of a cache', () => {
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
