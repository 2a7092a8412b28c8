/** The forum shows so many items on a page. */
export const PAGE_SIZE = 100;
/** A deeper page begins this many items above the oldest known one and must show one of them: any may be deleted. */
export const OVERLAP = 3;
/** Room for the chance of a busy moment, in standard deviations: one reading of fifteen needs a page more. */
const ROOM = 1.5;

/**
 * How many new items a reading of so many pages should bring. Several pages need less room for chance than one: 85 of a
 * hundred items are new on one page, 89 of a hundred on the average of three.
 */
export function freshOfPages(pages: number): number {
  const most = PAGE_SIZE + (pages - 1) * (PAGE_SIZE - OVERLAP);
  return most - ROOM * Math.sqrt(most);
}

/** The pages of a reading that is expected to bring so many new items. */
export function pagesOf(fresh: number): number {
  // Half an item, because the number of items is computed from this one.
  for (let pages = 1; ; pages++) if (fresh <= freshOfPages(pages) + 0.5) return pages;
}
