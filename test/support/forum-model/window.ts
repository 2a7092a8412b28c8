import { NONE } from './stores.ts';

/** A listing ends after this many items. */
export const LISTING_DEPTH = 1_000;
/** Items that are kept, so that a page can be outdated by half a minute. */
const KEPT = 10_000;

/** The newest items of a site-wide listing, oldest first. */
export class ListingWindow {
  private items: number[] = [];

  add(item: number): void {
    this.items.push(item);
    this.trim();
  }

  /**
   * A page of at most `size` items below `after`, or of the newest ones. It is empty if `after` is not among the
   * newest LISTING_DEPTH. `limit` hides the items from that number on, as an outdated page does.
   */
  page(after: number, size: number, limit: number): { items: number[]; after: number } {
    const items: number[] = [];
    let at = this.items.length - 1;
    while (at >= 0 && this.items[at]! >= limit) at -= 1;
    const end = Math.max(0, at + 1 - LISTING_DEPTH);
    if (after !== NONE) {
      while (at >= end && this.items[at] !== after) at -= 1;
      at -= 1;
    }
    for (; at >= end && items.length < size; at -= 1) items.push(this.items[at]!);
    return { items, after: at >= end ? (items.at(-1) ?? NONE) : NONE };
  }

  private trim(): void {
    if (this.items.length >= 2 * KEPT) this.items = this.items.slice(-KEPT);
  }
}
