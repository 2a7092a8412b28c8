import type { Entry, Page } from './forum-source.ts';

/** The fields that all listings share. */
export interface PageEnvelope<T> {
  query: string | null;
  sort: string;
  count: number;
  items: T[];
  after: string | null;
  filtered_nsfw: number;
  degraded: boolean;
}

export interface PageRequest {
  query: string | null;
  sort: string;
  /** Whether to include NSFW items. */
  nsfw: boolean;
}

/**
 * Removes and counts NSFW items. The cursor stays the forum's own, because filtering happens after the forum made its
 * page. A page from which something is missing is degraded.
 */
export function pageEnvelope<T>(page: Page<T>, request: PageRequest, degraded: boolean): PageEnvelope<T> {
  const entries = request.nsfw ? page.entries : page.entries.filter(({ nsfw }) => !nsfw);
  return {
    query: request.query,
    sort: request.sort,
    count: entries.length,
    items: entries.map(({ item }: Entry<T>) => item),
    after: page.after,
    filtered_nsfw: page.entries.length - entries.length,
    degraded: degraded || page.unreadable > 0,
  };
}
