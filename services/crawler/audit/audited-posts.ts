import { samplingHash } from './sampling-hash.ts';

/** A post that was chosen at its birth. */
export interface AuditedPost {
  postId: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The post was chosen because this is less than `chance`, the probability of its choice. */
  hash: number;
  chance: number;
  /** num_comments at the check of the window before; undefined when the post was not checked then. */
  before: number | undefined;
  /** Growth of num_comments up to that check, since the one before it. */
  grownBefore: number;
  /** num_comments at the check of this window. */
  counted: number | undefined;
}

/** The part of the earlier growth that counts: what came between the end of that window and its check. */
const EARLIER_GROWTH = 0.2;

/**
 * The size of a post in a window, in proportion to which its thread is chosen. It is above 0 for every post with
 * comments in the window: a check comes some time after the end of its window, so it has counted some of the next one.
 */
export function sizeOf({ before, counted, grownBefore }: AuditedPost): number {
  return Math.max(0, (counted ?? 0) - (before ?? 0)) + EARLIER_GROWTH * grownBefore;
}

/** Comments on older posts are few. */
export const AUDITED_AGE_MS = 48 * 3_600_000;
const LEAST_CHANCE = 0.0005;
/** Part of the calls between the end of a window and its readings that checks may use. */
const CHECK_MARGIN = 0.7;
/** Of older posts fewer were chosen, so the probability rises slowly. */
const MOST_RISE = 1.1;

/** The first phase of the audit: a share of all posts, chosen at birth by a hash of their ids. */
export class AuditedPosts {
  private readonly seed: number;
  private readonly capacity: number;
  private readonly posts = new Map<string, AuditedPost>();
  private chance = 1;

  constructor(seed: number, capacity: number) {
    this.seed = seed;
    this.capacity = capacity;
  }

  get size(): number {
    return this.posts.size;
  }

  get(postId: string): AuditedPost | undefined {
    return this.posts.get(postId);
  }

  /** Those created before `end`, in the order of their hashes. */
  createdBefore(end: number): AuditedPost[] {
    const posts = [...this.posts.values()].filter(({ createdAt }) => createdAt < end);
    return posts.sort((a, b) => a.hash - b.hash);
  }

  /** Every post of the forum is offered, as soon as it is known. `isNew`: created since the last window ended. */
  offer(postId: string, createdAt: number, isNew: boolean): void {
    if (this.posts.has(postId)) return;
    const hash = samplingHash(this.seed, postId);
    if (hash >= this.chance) return;
    const before = isNew ? 0 : undefined;
    this.posts.set(postId, {
      postId,
      createdAt,
      hash,
      chance: this.chance,
      before,
      grownBefore: 0,
      counted: undefined,
    });
    if (this.posts.size > this.capacity) this.thin(this.chance * 0.7);
  }

  /** Keeps of all posts those that would have been chosen with this probability. */
  thin(chance: number): void {
    this.chance = Math.min(this.chance, chance);
    for (const post of this.posts.values()) {
      if (post.hash >= this.chance) this.posts.delete(post.postId);
      else post.chance = Math.min(post.chance, this.chance);
    }
  }

  /**
   * Ends a window: drops old posts, and adapts the probability so that the checks of a window fit into the budget.
   *
   * @param checkSeconds for all checks of the longest window
   */
  endWindow(end: number, callsPerSecond: number, checkSeconds: number): void {
    for (const post of this.posts.values()) {
      if (post.createdAt < end - AUDITED_AGE_MS) this.posts.delete(post.postId);
      if (post.counted === undefined) continue;
      post.grownBefore = Math.max(0, post.counted - (post.before ?? post.counted));
      post.before = post.counted;
      post.counted = undefined;
    }
    if (this.posts.size === 0) return;
    const followed = this.posts.size / this.chance;
    const affordable = Math.min(this.capacity, CHECK_MARGIN * callsPerSecond * checkSeconds * 100);
    const chance = Math.min(1, Math.max(LEAST_CHANCE, affordable / followed));
    // A short time without budget must not empty the sample.
    if (chance < 0.8 * this.chance) this.thin(Math.max(chance, this.chance / 2));
    else if (chance > this.chance) this.chance = Math.min(chance, this.chance * MOST_RISE);
  }
}
