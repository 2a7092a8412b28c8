import type { Forum } from '../forum-model/forum.ts';

/** What was seen since its reader last emptied it, as the archive tells it. */
export interface Fresh {
  comments: number[];
  posts: number[];
}

/** When the crawlers first published each item, by its index in the stores of the forum. Milliseconds since 1970. */
export class Sightings {
  private readonly forum: Forum;
  private comments = new Float64Array(1024);
  private posts = new Float64Array(1024);
  /** How many comments of each post were seen. */
  private ofPost = new Int32Array(1024);
  /** The purposes of the calls that first saw something, and of each comment the index of its purpose. */
  private readonly purposes: string[] = [];
  private firstBy = new Uint8Array(1024);
  private readonly followers: Fresh[] = [];

  constructor(forum: Forum) {
    this.forum = forum;
  }

  /** Notes comments; returns how many were new. */
  addComments(indexes: readonly number[], at: number, purpose: string): number {
    this.comments = grown(this.comments, this.forum.comments.count);
    this.firstBy = grown(this.firstBy, this.forum.comments.count);
    this.ofPost = grown(this.ofPost, this.forum.posts.count);
    let added = 0;
    if (!this.purposes.includes(purpose)) this.purposes.push(purpose);
    const by = this.purposes.indexOf(purpose);
    for (const index of indexes) {
      if (this.comments[index]) continue;
      this.comments[index] = at;
      this.ofPost[this.forum.comments.post[index]!]! += 1;
      this.firstBy[index] = by;
      for (const fresh of this.followers) fresh.comments.push(index);
      added += 1;
    }
    return added;
  }

  addPosts(ordinals: readonly number[], at: number): void {
    this.posts = grown(this.posts, this.forum.posts.count);
    for (const ordinal of ordinals) {
      if (this.posts[ordinal]) continue;
      this.posts[ordinal] = at;
      for (const fresh of this.followers) fresh.posts.push(ordinal);
    }
  }

  /** Returns a list to which everything is appended that is seen from now on; its reader empties it. */
  follow(): Fresh {
    const fresh: Fresh = { comments: [], posts: [] };
    this.followers.push(fresh);
    return fresh;
  }

  /** The archived comments of a post that were created until a time, counted from the start of the model. */
  archivedOf(ordinal: number, untilMs: number): number {
    const { comments, posts } = this.forum;
    let count = this.seenOfPost(ordinal);
    for (let item = posts.newestComment[ordinal]!; item >= 0; item = comments.olderInThread[item]!) {
      if (comments.shownAt[item]! <= untilMs) break;
      if (this.comments[item] && comments.createdAt(item) > untilMs) count -= 1;
    }
    return count;
  }

  /** When a comment was first seen; 0: never. */
  commentSeenAt(index: number): number {
    return this.comments[index] ?? 0;
  }

  /** Comments first seen by calls of each purpose. */
  countByPurpose(): Map<string, number> {
    const counts = new Map<string, number>();
    for (let index = 0; index < this.forum.comments.count; index++) {
      const purpose = this.firstSeenBy(index);
      if (purpose !== undefined) counts.set(purpose, (counts.get(purpose) ?? 0) + 1);
    }
    return counts;
  }

  /** The purpose of the call that first saw a comment; undefined for one that was not seen. */
  firstSeenBy(index: number): string | undefined {
    return this.comments[index] ? this.purposes[this.firstBy[index]!] : undefined;
  }

  postSeenAt(ordinal: number): number {
    return this.posts[ordinal] ?? 0;
  }

  /** The ordinals of the posts that were seen. */
  *seenPosts(): Generator<number> {
    for (let ordinal = 0; ordinal < this.forum.posts.count; ordinal++) if (this.posts[ordinal]) yield ordinal;
  }

  seenOfPost(ordinal: number): number {
    return this.ofPost[ordinal] ?? 0;
  }
}

type Column = Float64Array | Int32Array | Uint8Array;

function grown<C extends Column>(column: C, size: number): C {
  if (size <= column.length) return column;
  const larger = new (column.constructor as new (length: number) => C)(2 * size);
  larger.set(column);
  return larger;
}

/** Steps of the histogram of lags: each is 5 % longer than the one before, from 50 ms on. */
const STEP = 1.05;
const FIRST_MS = 50;
const STEPS = 400;

/** Shares of what any request could show, and lags from then on in milliseconds. */
export interface Coverage {
  shown: number;
  within15s: number;
  within60s: number;
  within1h: number;
  lagMs: { p50: number; p90: number; p95: number };
}

/** Counts lags of the items that were shown from `fromMs` to `toMs`; both count from the start of the model. */
class LagCounts {
  private readonly counts = new Float64Array(STEPS);
  private shown = 0;
  private within15s = 0;
  private within60s = 0;
  private within1h = 0;

  add(shownAtMs: number, seenAtMs: number | undefined): void {
    this.shown += 1;
    if (seenAtMs === undefined) return;
    const lag = Math.max(0, seenAtMs - shownAtMs);
    if (lag <= 15_000) this.within15s += 1;
    if (lag <= 60_000) this.within60s += 1;
    if (lag <= 3_600_000) this.within1h += 1;
    const step = lag <= FIRST_MS ? 0 : Math.ceil(Math.log(lag / FIRST_MS) / Math.log(STEP));
    this.counts[Math.min(STEPS - 1, step)]! += 1;
  }

  coverage(): Coverage {
    const share = (count: number) => (this.shown === 0 ? 1 : count / this.shown);
    return {
      shown: this.shown,
      within15s: share(this.within15s),
      within60s: share(this.within60s),
      within1h: share(this.within1h),
      lagMs: { p50: this.quantile(0.5), p90: this.quantile(0.9), p95: this.quantile(0.95) },
    };
  }

  /** A quantile of all that was shown: what was never seen has an infinite lag. */
  private quantile(part: number): number {
    let below = 0;
    for (const [step, count] of this.counts.entries()) {
      below += count;
      if (below >= part * this.shown) return Math.round(FIRST_MS * STEP ** step);
    }
    return Infinity;
  }
}

/** The coverage of the items that became visible in [fromMs, toMs), counted from the start of the model. */
export function measureCoverage(
  forum: Forum,
  sightings: Sightings,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): { comments: Coverage; posts: Coverage } {
  const { startsAt } = forum.options;
  const isMeasured = (shownAt: number) => shownAt >= fromMs && shownAt < toMs;
  const comments = new LagCounts();
  for (let index = 0; index < forum.comments.count; index++) {
    const shownAt = forum.comments.shownAt[index]!;
    const seenAt = sightings.commentSeenAt(index);
    if (isMeasured(shownAt)) comments.add(shownAt, seenAt === 0 ? undefined : seenAt - startsAt);
  }
  const posts = new LagCounts();
  for (let ordinal = forum.firstPost; ordinal < forum.posts.count; ordinal++) {
    const shownAt = forum.posts.shownAt[ordinal]!;
    const seenAt = sightings.postSeenAt(ordinal);
    if (isMeasured(shownAt)) posts.add(shownAt, seenAt === 0 ? undefined : seenAt - startsAt);
  }
  return { comments: comments.coverage(), posts: posts.coverage() };
}
