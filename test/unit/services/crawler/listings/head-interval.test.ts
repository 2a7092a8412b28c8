import { describe, expect, test } from 'vitest';
import { HeadInterval } from '../../../../../services/crawler/listings/head-interval.ts';

/** Reads a listing of `rate` items a second `readings` times at the interval that `heads` says, each to its end. */
function poll(
  heads: HeadInterval,
  rate: number,
  readings: number,
  from = { sequence: 0, sentAt: 0 },
  roundTripMs = 200,
) {
  let { sequence, sentAt } = from;
  for (let n = 0; n < readings; n++) {
    const elapsedMs = heads.intervalMs;
    sequence += 1;
    sentAt += elapsedMs;
    let fresh = Math.round((rate * elapsedMs) / 1000);
    heads.learnRoundTrip(roundTripMs);
    heads.learn({ sequence, sentAt }, { fresh: Math.min(100, fresh), outcome: fresh >= 100 ? 'overflow' : 'joined' });
    // The forum's listings end after ten pages.
    for (let page = 2; fresh > 100 && page <= 10; page++) {
      fresh -= 100;
      heads.learnOther({ fresh: Math.min(97, fresh), outcome: 'joined' }, page);
    }
  }
  return { sequence, sentAt };
}

describe('HeadInterval', () => {
  test.each([
    [0, 400, 1],
    [50, 400, 1],
    [200, 400, 1],
    [325, 541, 2],
    [600, 293, 2],
  ])('at %i items a second the interval is %i ms, with %i pages a reading', (rate, intervalMs, pages) => {
    const heads = new HeadInterval({ minMs: 100, maxMs: 400 });
    poll(heads, rate, 60);
    expect(Math.abs(heads.intervalMs - intervalMs)).toBeLessThan(8);
    expect(heads.pages).toBe(pages);
  });

  test('reacts to a burst within three readings, and returns afterwards', () => {
    const heads = new HeadInterval({ minMs: 100, maxMs: 400 });
    const calm = poll(heads, 132, 30);
    const during = poll(heads, 20 * 132, 3, calm);
    expect(heads.intervalMs).toBe(100);
    poll(heads, 132, 40, during);
    expect(heads.intervalMs).toBe(400);
  });
});
