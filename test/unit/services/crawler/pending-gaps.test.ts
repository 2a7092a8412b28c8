import { expect, test } from 'vitest';
import { PendingGaps } from '../../../../services/crawler/source-persistence.ts';
import type { CrawlGap } from '../../../../shared/stores/crawl/crawl-gaps.ts';

function gap(n: number): CrawlGap {
  const bounds = { afterThing: `t1_${n}`, afterAt: n, beforeThing: `t1_${n + 1}`, beforeAt: n + 1 };
  return { source: 'listings:comments', reason: 'listing_too_short', ...bounds };
}

test('lists the gaps with their age and removes those that were written', () => {
  const gaps = new PendingGaps();
  gaps.add(gap(1), 1_000);
  gaps.add(gap(2), 2_000);
  const listed = gaps.list(2_500);
  expect(listed.map(({ ageMs }) => ageMs)).toEqual([1_500, 500]);
  gaps.add(gap(3), 3_000);
  gaps.remove(listed);
  expect(gaps.list(3_000).map(({ afterThing }) => afterThing)).toEqual(['t1_3']);
});

test('merges the newest gaps beyond a thousand into one that covers them all', () => {
  const gaps = new PendingGaps();
  for (let n = 0; n < 1_010; n++) gaps.add({ ...gap(n), communities: [`c${n}`] }, n);
  expect(gaps.size).toBe(1_000);
  expect(gaps.list(2_000).at(-1)).toMatchObject({
    reason: 'joined',
    afterThing: 't1_999',
    afterAt: 999,
    beforeThing: 't1_1010',
    beforeAt: 1_010,
    communities: undefined,
  });
});

/** As many gaps as are kept apart; those of post ids 1000 to 5000 are the last. */
function fullOfGaps(other: Partial<CrawlGap> = {}): PendingGaps {
  const gaps = new PendingGaps();
  for (let n = 0; n < 999; n++) gaps.add(gap(n), n);
  const bounds = { afterThing: 't3_1000', afterAt: 10_000, beforeThing: 't3_5000', beforeAt: 50_000 };
  gaps.add({ source: 'post-ids', reason: 'skipped', ...bounds, ...other }, 60_000);
  return gaps;
}

const HOUR = 3_600_000;

test.each<[string, Partial<CrawlGap>, Partial<CrawlGap>, Partial<CrawlGap>]>([
  [
    'around the last one replaces both bounds',
    {},
    { afterThing: 't3_zzz', afterAt: 5_000, beforeThing: 't3_10000', beforeAt: 55_000 },
    { afterThing: 't3_zzz', afterAt: 5_000, beforeThing: 't3_10000', beforeAt: 55_000 },
  ],
  [
    'of things that are not numbered in order is judged by its times',
    { afterThing: 't1_b', beforeThing: 't1_d' },
    { afterThing: 't1_a', afterAt: 20_000, beforeThing: 't1_c', beforeAt: 55_000 },
    { afterThing: 't1_b', afterAt: 10_000, beforeThing: 't1_c', beforeAt: 55_000 },
  ],
  [
    'without times is judged by its ids, and counts as an hour until it was noticed',
    {},
    { afterThing: 't3_zzz', afterAt: undefined, beforeThing: 't3_3000', beforeAt: undefined },
    { afterThing: 't3_zzz', afterAt: 70_000 - HOUR, beforeThing: 't3_5000', beforeAt: 70_000 },
  ],
  [
    'with an unknown thing leaves it unknown',
    {},
    { afterThing: undefined, afterAt: 20_000, beforeThing: undefined, beforeAt: 30_000 },
    { afterThing: undefined, afterAt: 10_000, beforeThing: undefined, beforeAt: 50_000 },
  ],
])('a merged gap covers both: one %s', (_, last, next, bounds) => {
  const gaps = fullOfGaps(last);
  gaps.add({ ...gap(0), ...next }, 70_000);
  expect(gaps.size).toBe(1_000);
  expect(gaps.list(70_000).at(-1)).toMatchObject({ reason: 'joined', ...bounds, ageMs: 10_000 });
});
