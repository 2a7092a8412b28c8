import { expect, test } from 'vitest';
import { countedItems, coverageRow } from '../../../../../services/crawler/coverage/counted-items.ts';
import { hourCoverage } from '../../../../../shared/domain/coverage/hour-coverage.ts';

test('groups add up by source and kind; the backlog and items of dump files have no lag', () => {
  expect(
    countedItems([
      { source: 'listings', kind: 'post', bucket: 0, items: 2, late: 0, isBacklog: false },
      { source: 'listings', kind: 'comment', bucket: 0, items: 3, late: 0, isBacklog: false },
      { source: 'listings', kind: 'comment', bucket: 124, items: 1, late: 1, isBacklog: false },
      { source: 'threads', kind: 'comment', bucket: 124, items: 4, late: 4, isBacklog: false },
      { source: 'replay', kind: 'post', bucket: 500, items: 7, late: 0, isBacklog: false },
      { source: 'listings', kind: 'post', bucket: 300, items: 1, late: 0, isBacklog: true },
    ]),
  ).toEqual({
    seen: {
      listings: { posts: 3, comments: 4 },
      threads: { posts: 0, comments: 4 },
      replay: { posts: 7, comments: 0 },
    },
    late: 5,
    lags: { 0: 5, 124: 5 },
  });
});

test('the row of an hour for analysts', () => {
  const coverage = hourCoverage.parse({
    ...countedItems([{ source: 'listings', kind: 'comment', bucket: 25, items: 3, late: 1, isBacklog: false }]),
    tombstones: 2,
    posts: { found: 9, unread: 1 },
    comments: { share: 0.9, low: 0.8, high: 0.95, threads: 12, comments: 100 },
  });
  expect(coverageRow(7_200_000, coverage, 0)).toEqual({
    hour: 7_200,
    posts: 0,
    comments: 3,
    late: 1,
    removed: 2,
    items_by_source: { listings: 3 },
    lag_p50_seconds: expect.closeTo(Math.exp(25 * Math.log(1.02 / 0.98)) * 0.98, 6) as number,
    lag_p95_seconds: expect.any(Number) as number,
    lag_p99_seconds: expect.any(Number) as number,
    post_completeness: 0.9,
    comment_completeness: 0.9,
    comment_completeness_low: 0.8,
    comment_completeness_high: 0.95,
    audited_threads: 12,
    computed_at: '1970-01-01T00:00:00.000Z',
  });
  const unknown = coverageRow(0, { ...coverage, lags: {}, posts: null, comments: null }, 0);
  expect(unknown).toMatchObject({ lag_p50_seconds: null, post_completeness: null, comment_completeness: null });
});
