import type { Forum } from './forum.ts';
import { NONE } from './stores.ts';
import { LISTING_DEPTH } from './window.ts';

/**
 * Merges the listings of several communities, newest first, with a binary heap of their next comments: a page of a
 * hundred communities costs some microseconds.
 */
export class CommunityMerge {
  private readonly forum: Forum;
  /** The next comment of each community, as a heap with the newest first. */
  private heap: number[] = [];

  constructor(forum: Forum) {
    this.forum = forum;
  }

  /** A page of at most `size` comments below `after`; see ListingWindow.page. */
  page(
    communities: readonly number[],
    { after, size, limit }: { after: number; size: number; limit: number },
  ): { items: number[]; after: number } {
    this.fill(communities, limit);
    const items: number[] = [];
    let isBelow = after === NONE;
    let depth = 0;
    for (; depth < LISTING_DEPTH && this.heap.length > 0 && items.length < size; depth++) {
      const item = this.pop(limit);
      if (isBelow) items.push(item);
      else isBelow = item === after;
    }
    const hasMore = this.heap.length > 0 && depth < LISTING_DEPTH;
    return { items, after: hasMore ? (items.at(-1) ?? NONE) : NONE };
  }

  private fill(communities: readonly number[], limit: number): void {
    this.heap = [];
    for (const community of communities) {
      const item = this.visible(this.forum.newestInCommunity[community] ?? NONE, limit);
      if (item === NONE) continue;
      this.heap.push(item);
    }
    for (let parent = (this.heap.length >> 1) - 1; parent >= 0; parent--) this.sink(parent);
  }

  /** Takes the newest and puts the next older one of the same community in its place. */
  private pop(limit: number): number {
    const newest = this.heap[0]!;
    const older = this.visible(this.forum.comments.olderInCommunity[newest]!, limit);
    const last = older === NONE ? this.heap.pop()! : older;
    if (this.heap.length > 0) {
      this.heap[0] = last;
      this.sink(0);
    }
    return newest;
  }

  /** The first comment from `item` on that has a number below `limit`. */
  private visible(item: number, limit: number): number {
    let found = item;
    while (found >= limit) found = this.forum.comments.olderInCommunity[found]!;
    return found;
  }

  private sink(from: number): void {
    const { heap } = this;
    const item = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! > heap[child]!) child += 1;
      if (heap[child]! <= item) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = item;
  }
}
