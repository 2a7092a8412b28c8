import { describe, expect, it } from 'vitest';
import { ListingPass } from '../../services/crawler/listing-pass.ts';

/** Names n, n-1, … newest first. */
function page(newest: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `t1_${newest - index}`);
}

/** Reads and accepts pages of 100 of a listing whose newest item is `newest`, until the pass ends; the verdicts. */
function read(pass: ListingPass, newest: number, depth = 1000): string[] {
  const outcomes: string[] = [];
  for (;;) {
    const top = pass.cursor === undefined ? newest : Number(pass.cursor.slice(3)) - 1;
    const names = page(top, Math.min(100, depth - (newest - top)));
    const isLast = newest - top + names.length >= depth;
    const verdict = pass.judge(names, isLast ? undefined : names.at(-1));
    outcomes.push(verdict.outcome);
    pass.accept(names, verdict);
    if (verdict.outcome !== 'deeper') return outcomes;
  }
}

describe('a pass over a listing', () => {
  it('takes one page of a source without history', () => {
    expect(read(new ListingPass(), 5000)).toEqual(['complete']);
  });

  it('ends at the first page that reaches what was seen', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5099)).toEqual(['joined']);
    expect(read(pass, 5099)).toEqual(['joined']);
  });

  it('goes deeper over a page full of new items until it joins', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 5350)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
    expect(read(pass, 5351)).toEqual(['joined']);
  });

  it('reports a gap when a thousand items do not reach back', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(read(pass, 7000)).toEqual([...Array.from({ length: 9 }, () => 'deeper'), 'gap']);
    expect(read(pass, 7001)).toEqual(['joined']);
  });

  it('names both sides of a gap', () => {
    const pass = new ListingPass(['t1_1', 't1_2']);
    for (let n = 0; n < 9; n++) {
      const names = page(9000 - 100 * n, 100);
      pass.accept(names, pass.judge(names, names.at(-1)));
    }
    expect(pass.judge(page(8100, 100), undefined)).toEqual({
      outcome: 'gap',
      afterThing: 't1_2',
      beforeThing: 't1_8001',
    });
  });

  it('takes the end of a short listing for the whole of it', () => {
    const pass = new ListingPass(['t1_1']);
    expect(read(pass, 5000, 250)).toEqual(['deeper', 'deeper', 'complete']);
  });

  it('does not take an interrupted pass for a finished one', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    const first = page(5350, 100);
    pass.accept(first, pass.judge(first, first.at(-1)));
    const restarted = new ListingPass(pass.newestAnchors());
    expect(restarted.judge(first, first.at(-1)).outcome).toBe('deeper');
    expect(read(restarted, 5360)).toEqual(['deeper', 'deeper', 'deeper', 'joined']);
  });

  it('joins although the newest item seen, and most others, vanished', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    const names = [...page(5090, 90), 't1_4905'];
    expect(pass.judge(names, 't1_4905').outcome).toBe('joined');
  });

  it('tries earlier items when the one it went on from vanished, and then owns up to a gap', () => {
    const pass = new ListingPass(['t1_1']);
    const first = page(5000, 100);
    pass.accept(first, pass.judge(first, first.at(-1)));
    const cursors: (string | undefined)[] = [];
    let outcome: string;
    do {
      cursors.push(pass.cursor);
      const verdict = pass.judge([], undefined);
      outcome = verdict.outcome;
      pass.accept([], verdict);
    } while (outcome === 'deeper');
    expect(cursors).toEqual(['t1_4901', 't1_4921', 't1_4941', 't1_4961']);
    expect(outcome).toBe('gap');
    expect(pass.cursor).toBeUndefined();
  });

  it('counts new items', () => {
    const pass = new ListingPass();
    read(pass, 5000);
    expect(pass.countNew(page(5030, 100))).toBe(30);
  });
});
