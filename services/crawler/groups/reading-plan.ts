import { freshOfPages, pagesOf } from '../listings/listing-segment.ts';

export const MIN_INTERVAL_MS = 2_000;
/** One reading of fifteen needs a page more than planned. */
const MORE_PAGES = 1 / 15;

/** How often the listing of a group is read, and how many pages a reading takes. */
export interface ReadingPlan {
  intervalMs: number;
  pages: number;
}

/**
 * Readings of at most so many pages, nearly full, within an interval; a quiet group's page is not full.
 *
 * @param perSecond comments of the group
 */
export function planReadings(perSecond: number, mostPages: number, maxIntervalMs: number): ReadingPlan {
  const msFor = (pages: number): number => (1000 * freshOfPages(pages)) / Math.max(1e-9, perSecond);
  let pages = mostPages;
  while (pages > 1 && msFor(pages) > maxIntervalMs) pages -= 1;
  const intervalMs = Math.max(MIN_INTERVAL_MS, Math.min(maxIntervalMs, msFor(pages)));
  return { intervalMs, pages: Math.max(pages, pagesOf((perSecond * intervalMs) / 1000)) };
}

/** Calls a second that the readings take. */
export function callsPerSecond({ intervalMs, pages }: ReadingPlan): number {
  return ((pages + MORE_PAGES) * 1000) / intervalMs;
}

/** Comments that a call of a reading of so many pages brings, if the pages fill. */
export function freshPerCall(pages: number): number {
  return freshOfPages(pages) / (pages + MORE_PAGES);
}
