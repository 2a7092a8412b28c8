/** No comment: the end of a linked list. */
export const NONE = -1;

/** Where a comment is shown besides its thread. */
export const IN_ALL = 1;
export const IN_COMMUNITY = 2;

/**
 * The visible comments in columns, in the order in which they became visible. Times are milliseconds since the start of
 * the model.
 */
export class CommentStore {
  count = 0;
  shownAt = new Float64Array(1024);
  post = new Int32Array(1024);
  /** IN_ALL and IN_COMMUNITY. */
  visibleIn = new Uint8Array(1024);
  /** The next older comment of the same thread, and of the same community's listing. */
  olderInThread = new Int32Array(1024);
  olderInCommunity = new Int32Array(1024);
  /** Creation times of the comments that were shown late. All others were shown when they were created. */
  private readonly lateCreation = new Map<number, number>();

  add(post: number, visibleIn: number, { createdAt, shownAt }: { createdAt: number; shownAt: number }): number {
    const index = this.count++;
    if (index >= this.post.length) this.grow();
    this.shownAt[index] = shownAt;
    this.post[index] = post;
    this.visibleIn[index] = visibleIn;
    if (createdAt !== shownAt) this.lateCreation.set(index, createdAt);
    return index;
  }

  createdAt(index: number): number {
    return this.lateCreation.get(index) ?? this.shownAt[index]!;
  }

  /** The number of comments that were visible at a time. */
  countAt(atMs: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.shownAt[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private grow(): void {
    const size = this.post.length * 2;
    this.shownAt = copyTo(new Float64Array(size), this.shownAt);
    this.post = copyTo(new Int32Array(size), this.post);
    this.visibleIn = copyTo(new Uint8Array(size), this.visibleIn);
    this.olderInThread = copyTo(new Int32Array(size), this.olderInThread);
    this.olderInCommunity = copyTo(new Int32Array(size), this.olderInCommunity);
  }
}

/** Ids of posts in columns: the index is the ordinal of the id. An id may be a hole. */
export class PostStore {
  count = 0;
  createdAt = new Float64Array(1024);
  /** Infinity for a hole, which no one ever sees. */
  shownAt = new Float64Array(1024);
  community = new Int32Array(1024);
  /** `num_comments`: all comments that exist, also those that no request returns. */
  comments = new Int32Array(1024);
  /** The comments that the thread shows. */
  shownComments = new Int32Array(1024);
  newestComment = new Int32Array(1024);

  add(community: number, { createdAt, shownAt }: { createdAt: number; shownAt: number }): number {
    const ordinal = this.count++;
    if (ordinal >= this.community.length) this.grow();
    this.community[ordinal] = community;
    this.createdAt[ordinal] = createdAt;
    this.shownAt[ordinal] = shownAt;
    this.newestComment[ordinal] = NONE;
    return ordinal;
  }

  /** The ordinals of the posts that are visible at a time. */
  *visibleAt(atMs: number): Generator<number> {
    for (let ordinal = 0; ordinal < this.count; ordinal++) if (this.shownAt[ordinal]! <= atMs) yield ordinal;
  }

  private grow(): void {
    const size = this.community.length * 2;
    this.createdAt = copyTo(new Float64Array(size), this.createdAt);
    this.shownAt = copyTo(new Float64Array(size), this.shownAt);
    this.community = copyTo(new Int32Array(size), this.community);
    this.comments = copyTo(new Int32Array(size), this.comments);
    this.shownComments = copyTo(new Int32Array(size), this.shownComments);
    this.newestComment = copyTo(new Int32Array(size), this.newestComment);
  }
}

function copyTo<Column extends { set: (values: Column) => void }>(larger: Column, values: Column): Column {
  larger.set(values);
  return larger;
}

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

const KEYS = [0x2545f491, 0x1b873593, 0x4cf5ad43, 0x38b34ae5] as const;
const HALF_LENGTH = 6;
/** Two halves of 31 bits each, because a half must fit six characters of base 36. */
const MASK = 0x7fffffff;
/** The ordinal of a post plus this is its id. */
const POST_BASE = 36 ** 5;

/**
 * The fullname of the comment with this index: an opaque id of 12 or 13 characters. It comes from a Feistel permutation
 * of the index, so that neither direction needs a table of millions of names.
 */
export function commentName(index: number): string {
  let left = 0;
  let right = index;
  for (const key of KEYS) [left, right] = [right, left ^ mix(right, key)];
  const id = half(left) + half(right);
  return left % 2 === 0 ? `t1_${id}` : `t1_x${id}`;
}

/** The index of the comment with this fullname; undefined if it is no name of a comment. */
export function commentIndex(name: string): number | undefined {
  if (!name.startsWith('t1_')) return undefined;
  let left = parseInt(name.slice(-2 * HALF_LENGTH, -HALF_LENGTH), 36);
  let right = parseInt(name.slice(-HALF_LENGTH), 36);
  for (const key of KEYS.toReversed()) [left, right] = [right ^ mix(left, key), left];
  return left === 0 ? right : undefined;
}

/** The id of the post with this ordinal, without `t3_`. Ids are in sequence. */
export function postId(ordinal: number): string {
  return (POST_BASE + ordinal).toString(36);
}

/** The ordinal of a post from its id or fullname. It may belong to no post. */
export function postOrdinal(id: string): number {
  return parseInt(id.startsWith('t3_') ? id.slice(3) : id, 36) - POST_BASE;
}

function mix(value: number, key: number): number {
  let hash = Math.imul(value ^ key, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) & MASK;
}

function half(value: number): string {
  return value.toString(36).padStart(HALF_LENGTH, '0');
}
