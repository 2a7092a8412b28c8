import { SeededRandom, PURPOSE, roll } from './seeded-random.ts';
import { BLOCK, slotOfPost } from '../timeline/timeline.ts';
import type { Timeline } from '../timeline/timeline.ts';

/**
 * Most comments go to one of the 40 newest posts; a quarter to every 64th, so that some threads have a few hundred
 * comments; a sixth to every 2,048th, so that some exceed 2,000.
 */
const LARGE_EVERY = 64;
const HUGE_EVERY = 2048;
const HUGE_SHARE = 0.16;
const LARGE_SHARE = 0.26;
const RECENT_POSTS = 40;
const TOP_LEVEL_SHARE = 0.38;
const REPLY_TO_LAST_SHARE = 0.25;
/** Threads in which nearly every comment answers the previous one, so that clients cannot show all levels. */
const CHAIN_THREAD_SHARE = 0.04;
const CHAIN_REPLY_SHARE = 0.9;
const SCANNED_THREADS_KEPT = 64;
const COUNTS_KEPT = 65_536;

/** For how many blocks after its own block a post still gets comments. */
function reach(post: number): number {
  if (post % HUGE_EVERY === 0) return HUGE_EVERY + 1;
  return post % LARGE_EVERY === 0 ? 2 * LARGE_EVERY + 1 : RECENT_POSTS + 2;
}

/** How many threads stay in memory: those of the newest posts, four times as many as can still get comments. */
export const KEPT_POSTS = 4 * HUGE_EVERY;
const KEPT_SECONDS = 1200;

/** At a high rate more threads stay in memory, so that those of the last twenty minutes need no scan. */
export function keptPostsAt(rate: number): number {
  return Math.max(KEPT_POSTS, Math.ceil((rate * KEPT_SECONDS) / BLOCK));
}

/** The comments of each post in slot order, whether visible yet or not. */
export class Threads {
  private readonly timeline: Timeline;
  private readonly kept = new Map<number, number[]>();
  private readonly scanned = new BoundedCache<number[]>(SCANNED_THREADS_KEPT);
  /** Threads of posts from this number on stay in memory. Older ones are recomputed with a bounded scan. */
  private firstKept: number;
  private readonly keptPosts: number;
  /** How many comments of a post became visible, from the first time that it is asked for. */
  private readonly counts = new BoundedCache<number>(COUNTS_KEPT);

  constructor(timeline: Timeline, firstKept: number, keptPosts = KEPT_POSTS) {
    this.timeline = timeline;
    this.firstKept = firstKept;
    this.keptPosts = keptPosts;
  }

  postOf(k: number): number {
    const injected = this.timeline.injected.get(k);
    if (typeof injected?.post === 'number') return this.timeline.item(injected.post).number;
    const before = Math.floor(k / BLOCK) - 1;
    if (before < 0) return 0;
    const random = new SeededRandom(this.timeline.seed, k, PURPOSE.thread);
    const kind = random.next();
    let chosen: number;
    if (kind < HUGE_SHARE) chosen = Math.floor(before / HUGE_EVERY) * HUGE_EVERY;
    else if (kind < HUGE_SHARE + LARGE_SHARE)
      chosen = (Math.floor(before / LARGE_EVERY) - random.below(2)) * LARGE_EVERY;
    else chosen = before - Math.floor(random.next() * random.next() * RECENT_POSTS);
    return this.nearestVisible(Math.max(0, chosen), this.timeline.emittedAt(k) ?? Infinity);
  }

  nearestVisible(chosen: number, time: number): number {
    let post = chosen;
    while (post > 0) {
      const k = slotOfPost(this.timeline.seed, post);
      if (this.timeline.visibleAt(k) <= time) return post;
      const lastEmitted = this.timeline.lastWithinRun(k);
      post = lastEmitted === k ? post - 1 : Math.min(post - 1, Math.floor(lastEmitted / BLOCK));
    }
    return 0;
  }

  add(k: number): void {
    this.forget(Math.floor(k / BLOCK) - this.keptPosts);
    const post = this.postOf(k);
    if (post < this.firstKept) {
      this.scanned.delete(post);
      return;
    }
    const thread = this.kept.get(post);
    if (thread) thread.push(k);
    else this.kept.set(post, [k]);
  }

  becameVisible(k: number): void {
    const post = this.postOf(k);
    const count = this.counts.get(post);
    if (count !== undefined) this.counts.set(post, count + 1);
  }

  visibleCount(post: number, now: number): number {
    const known = this.counts.get(post);
    if (known !== undefined) return known;
    const count = this.commentsOf(post).filter((k) => this.timeline.visibleAt(k) <= now).length;
    this.counts.set(post, count);
    return count;
  }

  private forget(first: number): void {
    for (; this.firstKept < first; this.firstKept++) this.kept.delete(this.firstKept);
  }

  commentsOf(post: number): readonly number[] {
    if (post >= this.firstKept) return this.kept.get(post) ?? [];
    const known = this.scanned.get(post);
    if (known) return known;
    const thread = this.scan(post);
    this.scanned.set(post, thread);
    return thread;
  }

  private scan(post: number): number[] {
    const { seed, frontier, injected } = this.timeline;
    // A comment falls back to this post if a later post was missing or late, so scan the range of those posts as well.
    let lastBlock = post + reach(post);
    for (let next = post + 1; next < lastBlock; next++) {
      const k = slotOfPost(seed, next);
      if (this.timeline.visibleAt(k) === this.timeline.emittedAt(k)) break;
      lastBlock = Math.max(lastBlock, next + reach(next));
    }
    const thread: number[] = [];
    const end = Math.min(frontier, (lastBlock + 1) * BLOCK);
    for (let k = post * BLOCK; k < end; k++) if (this.isCommentOf(k, post)) thread.push(k);
    for (const k of injected.keys()) if (k >= end && this.isCommentOf(k, post)) thread.push(k);
    return thread;
  }

  private isCommentOf(k: number, post: number): boolean {
    return this.timeline.exists(k) && this.timeline.item(k).kind === 'comment' && this.postOf(k) === post;
  }

  /** The slot that the comment in slot k answers: an earlier comment of its thread, or the post. */
  parentOf(k: number): number {
    const { seed } = this.timeline;
    const injected = this.timeline.injected.get(k);
    if (typeof injected?.parent === 'number') return injected.parent;
    const post = this.postOf(k);
    const thread = this.commentsOf(post);
    const rank = rankIn(thread, k);
    const postSlot = slotOfPost(seed, post);
    if (rank === 0) return postSlot;
    const random = new SeededRandom(seed, k, PURPOSE.parent);
    const choice = random.next();
    const chain = roll(seed, post, PURPOSE.chain) < CHAIN_THREAD_SHARE;
    let parent: number;
    if (chain ? choice < CHAIN_REPLY_SHARE : choice < REPLY_TO_LAST_SHARE) parent = thread[rank - 1]!;
    else if (choice < REPLY_TO_LAST_SHARE + TOP_LEVEL_SHARE || chain) return postSlot;
    else parent = thread[random.below(rank)]!;
    return this.timeline.visibleAt(parent) <= this.timeline.emittedAt(k)! ? parent : postSlot;
  }
}

function rankIn(sorted: readonly number[], k: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < k) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Drops the oldest entry when it is full. For immutable content that can be computed again. */
export class BoundedCache<T> {
  private readonly entries = new Map<number, T>();
  private readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  get(key: number): T | undefined {
    return this.entries.get(key);
  }

  set(key: number, value: T): void {
    if (this.entries.size >= this.size && !this.entries.has(key))
      this.entries.delete(this.entries.keys().next().value!);
    this.entries.set(key, value);
  }

  delete(key: number): void {
    this.entries.delete(key);
  }
}
