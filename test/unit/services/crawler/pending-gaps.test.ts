import { expect, test } from 'vitest';
import { PendingGaps } from '../../../../services/crawler/pending-gaps.ts';
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

test('keeps a gap that grew while it was written', () => {
  const gaps = new PendingGaps();
  for (let n = 0; n < 1_000; n++) gaps.add(gap(n), n);
  const listed = gaps.list(2_000);
  gaps.add(gap(1_000), 2_000);
  gaps.remove(listed);
  expect(gaps.list(2_000)).toMatchObject([{ afterThing: 't1_999', beforeThing: 't1_1001' }]);
});
