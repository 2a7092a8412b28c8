import type { Listed } from '../listed.ts';

/** Dates are whole seconds and not quite in order. Closer ones do not tell which page is newer. */
export const DATE_SLACK_MS = 1_000;

/** When a page was current: by the dates on it, and by the order of the requests. */
export interface PageOrder {
  at: number;
  sequence: number;
}

/** Before everything. */
export const NO_PAGE: PageOrder = { at: -Infinity, sequence: -1 };

/** By the middle one of three dates, so that a single odd date has no effect. */
export function orderOf(items: readonly Listed[], sequence: number): PageOrder {
  if (items.length === 0) return NO_PAGE;
  const dateAt = (part: number): number => items[Math.floor((items.length - 1) * part)]?.createdAt ?? -Infinity;
  const [a, b, c] = [dateAt(0.25), dateAt(0.5), dateAt(0.75)];
  return { at: Math.max(Math.min(a, b), Math.min(Math.max(a, b), c)), sequence };
}

export function isNewer(order: PageOrder, than: PageOrder): boolean {
  const apart = order.at - than.at;
  return Math.abs(apart) > DATE_SLACK_MS ? apart > 0 : order.sequence > than.sequence;
}

/** True if the dates alone show that the page is older. */
export function isOutdated(order: PageOrder, newest: PageOrder): boolean {
  return order.at < newest.at - DATE_SLACK_MS;
}
