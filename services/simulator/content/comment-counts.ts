import { BoundedCache } from '../bounded-cache.ts';

const OLDER_KEPT = 65_536;
const FIRST_CAPACITY = 1024;

/**
 * How many comments of each post became visible. Posts from `first` on are counted from their first comment; the count
 * of an older post is made when it is asked for.
 */
export class CommentCounts {
  private readonly first: number;
  private counts = new Uint32Array(FIRST_CAPACITY);
  private readonly older = new BoundedCache<number>(OLDER_KEPT);

  constructor(first: number) {
    this.first = first;
  }

  add(post: number): void {
    const place = post - this.first;
    if (place < 0) {
      this.older.delete(post);
      return;
    }
    if (place >= this.counts.length) {
      const grown = new Uint32Array(Math.max(place + 1, 2 * this.counts.length));
      grown.set(this.counts);
      this.counts = grown;
    }
    this.counts[place]! += 1;
  }

  of(post: number, count: () => number): number {
    if (post >= this.first) return this.counts[post - this.first] ?? 0;
    const known = this.older.get(post);
    if (known !== undefined) return known;
    const counted = count();
    this.older.set(post, counted);
    return counted;
  }
}
