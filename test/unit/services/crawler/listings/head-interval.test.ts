import { describe, expect, test } from 'vitest';
import { HeadInterval } from '../../../../../services/crawler/listings/head-interval.ts';

/** Reads a listing of `rate` items a second `pages` times at the interval that `heads` says. */
function poll(heads: HeadInterval, rate: number, pages: number, from = { sequence: 0, sentAt: 0 }) {
  let { sequence, sentAt } = from;
  for (let n = 0; n < pages; n++) {
    const elapsedMs = heads.intervalMs;
    sequence += 1;
    sentAt += elapsedMs;
    const fresh = Math.min(100, Math.round((rate * elapsedMs) / 1000));
    heads.learn({ sequence, sentAt }, { fresh, outcome: fresh === 100 ? 'overflow' : 'joined' });
  }
  return { sequence, sentAt };
}

describe('HeadInterval', () => {
  test.each([
    [0, 400],
    [50, 400],
    [200, 400],
    [325, 246],
    [2_000, 100],
  ])('at %i items a second the interval is %i ms', (rate, intervalMs) => {
    const heads = new HeadInterval({ freshPerPage: 80, minMs: 100, maxMs: 400 });
    poll(heads, rate, 30);
    expect(Math.abs(heads.intervalMs - intervalMs)).toBeLessThan(4);
  });

  test('reacts to a burst within three pages, and returns afterwards', () => {
    const heads = new HeadInterval({ freshPerPage: 80, minMs: 100, maxMs: 400 });
    const calm = poll(heads, 132, 30);
    const during = poll(heads, 20 * 132, 3, calm);
    expect(heads.intervalMs).toBe(100);
    poll(heads, 132, 20, during);
    expect(heads.intervalMs).toBe(400);
  });

  test('counts a page that overtook others from the last one that was answered', () => {
    const heads = new HeadInterval({ freshPerPage: 80, minMs: 100, maxMs: 10_000 });
    heads.learn({ sequence: 1, sentAt: 0 }, { fresh: 0, outcome: 'first' });
    heads.learn({ sequence: 3, sentAt: 1000 }, { fresh: 50, outcome: 'joined' });
    heads.learn({ sequence: 2, sentAt: 500 }, { fresh: 0, outcome: 'joined' });
    heads.learn({ sequence: 4, sentAt: 1500 }, { fresh: 0, outcome: 'ignored' });
    expect(heads.fillMs).toBeCloseTo(1600);
  });
});
