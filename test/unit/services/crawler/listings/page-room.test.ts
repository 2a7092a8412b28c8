import { expect, test } from 'vitest';
import { freshOfPages, pagesOf } from '../../../../../services/crawler/listings/page-room.ts';

test('a page of a longer reading brings more, because chance evens out', () => {
  expect(freshOfPages(1)).toBe(85);
  const perPage = [1, 2, 3, 4, 5].map((pages) => freshOfPages(pages) / pages);
  expect(perPage).toEqual([...perPage].sort((a, b) => a - b));
});

test('the pages of a reading are as many as bring the expected items', () => {
  for (const pages of [1, 2, 3, 4]) {
    expect(pagesOf(freshOfPages(pages))).toBe(pages);
    expect(pagesOf(freshOfPages(pages) + 1)).toBe(pages + 1);
  }
});
