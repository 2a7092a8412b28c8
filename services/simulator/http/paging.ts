import { listingOf } from '../render/comment-tree.ts';
import type { Thing } from '../render/render-post.ts';

export interface Page {
  limit: number;
  after: string | undefined;
  before: string | undefined;
}

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** Clamps the limit to the range and uses the default for a value that is not a number, as the upstream does. */
export function pageOf(query: URLSearchParams): Page {
  const requested = Number.parseInt(query.get('limit') ?? '', 10);
  const limit = Number.isNaN(requested) ? DEFAULT_LIMIT : Math.min(MAX_LIMIT, Math.max(1, requested));
  return { limit, after: query.get('after') ?? undefined, before: query.get('before') ?? undefined };
}

/**
 * Returns one page of a list as a Listing. An anchor that is not in the list (any more) gives an empty page, as the
 * upstream does. `before` gives the items directly above the anchor. `placeOf` finds an anchor, -1 for an unknown one.
 */
export function pageListing<T>(
  items: readonly T[],
  page: Page,
  nameOf: (item: T) => string,
  render: (item: T) => Thing,
  placeOf = (name: string): number => items.findIndex((item) => nameOf(item) === name),
): Thing {
  let start = 0;
  let end = items.length;
  if (page.after !== undefined) {
    const anchor = placeOf(page.after);
    start = anchor === -1 ? end : anchor + 1;
  } else if (page.before !== undefined) {
    end = Math.max(0, placeOf(page.before));
    start = Math.max(0, end - page.limit);
  }
  const shown = items.slice(start, Math.min(end, start + page.limit));
  const isLast = start + shown.length >= items.length;
  return listingOf(shown.map(render), isLast || shown.length === 0 ? null : nameOf(shown.at(-1)!), shown.length);
}
