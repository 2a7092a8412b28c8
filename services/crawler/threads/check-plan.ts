import { CAPACITY } from './tracked-posts.ts';
import type { TrackedPosts } from './tracked-posts.ts';

/** The default for the interval between two checks of a post while the budget allows it for every post. */
const SHORTEST_MS = 60_000;
const LONGEST_MS = 12 * 3_600_000;
/** No younger post is dropped while there is room. */
export const DAY_MS = 24 * 3_600_000;
/** A post older than a day is dropped once it is expected to get fewer comments than this in an hour. */
const QUIET_PER_HOUR = 0.02;
/** This many checks a second are made in any case if they can be: 18,000 posts once a minute. */
const CHEAP_PER_SECOND = 300;
/** Above that, a post is checked that often only if it is expected to get more comments a second than this. */
const WORTHWHILE_RATE = 2e-4;
/** No post is followed longer without new activity. */
export const LONGEST_AGE_MS = 3 * DAY_MS;
/** Comments that a post is expected to have had in a gap; see isLikely. */
const LEAST_IN_GAP = 0.02;
const LARGEST_FACTOR = 1e9;

interface Plan {
  /** Rows to check now, the most urgent first. */
  due: number[];
  /** Rows to check because of a gap, those with most comments first. */
  dueForGaps: number[];
  /** Rows to read because of a gap: those first that the oldest gap waits for, among them the largest deficit. */
  unread: number[];
  /** The posts that each gap still waits for. */
  waiting: number[];
}

/**
 * Decides which posts to check. The comments that would wait for a check are fewest in total when a post is checked at
 * intervals proportional to one over the root of the rate at which it gets comments. The factor is set so that the
 * budget suffices, and so that no more processor time is spent than is worth it. No post is checked more than once a
 * minute.
 */
export class CheckPlan {
  readonly shortestMs: number;
  private readonly posts: TrackedPosts;
  /** Seconds of interval for a post with one comment a second. */
  private factor = 0;
  private isShort = false;
  /** The root of the expected comments a second, by row; 0 for no post. */
  private readonly weights = new Float32Array(CAPACITY);
  private readonly urgencies = new Float32Array(CAPACITY);

  constructor(posts: TrackedPosts, shortestMs = SHORTEST_MS) {
    this.posts = posts;
    this.shortestMs = shortestMs;
  }

  /** True while the budget suffices for every check that is worth its processor time. */
  get isAmple(): boolean {
    return !this.isShort;
  }

  /**
   * Drops what is old and quiet, unless a gap waits for its check, and while there are too many posts, those with the
   * least to find.
   */
  drop(now: number, gaps: readonly WorkedOnTime[]): void {
    const { posts } = this;
    const crowded = posts.size > 0.95 * CAPACITY ? this.leastRates(now, posts.size - 0.85 * CAPACITY) : 0;
    for (let row = 0; row < posts.end; row++) {
      if (!posts.isUsed(row) || posts.checking[row] === 1 || posts.reading[row] === 1) continue;
      const age = now - posts.createdAt[row]!;
      if (age <= DAY_MS && crowded === 0) continue;
      const rate = this.rateOf(row, now);
      const isQuiet = rate * 3_600 < QUIET_PER_HOUR && posts.deficit[row] === 0;
      const isKept = age <= DAY_MS || !isQuiet || gaps.some((gap) => this.isDueFor(row, gap, rate));
      if (rate < crowded || !isKept || age > LONGEST_AGE_MS) posts.remove(row);
    }
  }

  /**
   * @param checksPerSecond what the budget allows
   * @param horizonMs until the next plan; nothing later is due
   * @param gaps times for which every post that may have had comments must be checked
   */
  make(now: number, checksPerSecond: number, horizonMs: number, gaps: readonly WorkedOnTime[]): Plan {
    this.weigh(now);
    const wanted = Math.max(CHEAP_PER_SECOND, this.worthwhilePerSecond());
    this.isShort = checksPerSecond < Math.min(wanted, this.mostPerSecond);
    this.adapt(Math.min(checksPerSecond, wanted));
    const most = Math.max(100, Math.ceil((4 * checksPerSecond * horizonMs) / 1000));
    const due = this.mostUrgent(now + horizonMs / 2, most);
    return { due, ...this.findDueForGaps(gaps, most) };
  }

  /** Comments a second that the post is expected to get. */
  private rateOf(row: number, now: number): number {
    return expectedRate(now - this.posts.createdAt[row]!, this.posts.comments[row]!);
  }

  private weigh(now: number): void {
    const { posts } = this;
    for (let row = 0; row < posts.end; row++) {
      this.weights[row] = posts.isUsed(row) ? Math.sqrt(this.rateOf(row, now)) : 0;
    }
  }

  /** The checks a second with which every post has the shortest interval. */
  private get mostPerSecond(): number {
    return this.posts.size / (this.shortestMs / 1000);
  }

  /** The checks a second with which posts of the worthwhile rate, and those above it, have the shortest interval. */
  private worthwhilePerSecond(): number {
    const least = Math.sqrt(WORTHWHILE_RATE);
    let sum = 0;
    for (let row = 0; row < this.posts.end; row++) sum += Math.min(1, this.weights[row]! / least);
    return sum / (this.shortestMs / 1000);
  }

  /** Sets the factor so that all intervals together fit into the budget; a few steps towards a fixed point. */
  private adapt(checksPerSecond: number): void {
    const { posts } = this;
    if (this.mostPerSecond <= checksPerSecond) {
      this.factor = 0;
      return;
    }
    if (this.factor === 0) this.factor = 1;
    for (let step = 0; step < 4; step++) {
      let atShortest = 0;
      let others = 0;
      for (let row = 0; row < posts.end; row++) {
        const weight = this.weights[row]!;
        if (weight === 0) continue;
        if (this.factor <= (weight * this.shortestMs) / 1000) atShortest += 1;
        else others += weight;
      }
      const left = checksPerSecond - atShortest / (this.shortestMs / 1000);
      // Too many are at the shortest interval: larger steps until that changes.
      this.factor = left > 0.05 * checksPerSecond ? others / left : this.factor * 2 + 0.01;
      this.factor = Math.min(LARGEST_FACTOR, this.factor);
    }
  }

  private intervalMs(row: number): number {
    const interval = (this.factor / this.weights[row]!) * 1000;
    return Math.min(LONGEST_MS, Math.max(this.shortestMs, interval));
  }

  private mostUrgent(until: number, most: number): number[] {
    const { posts, urgencies } = this;
    let count = 0;
    for (let row = 0; row < posts.end; row++) {
      const isFree = this.weights[row] !== 0 && posts.checking[row] === 0;
      const urgency = isFree ? (until - posts.checkedAt[row]!) / this.intervalMs(row) : 0;
      urgencies[row] = urgency;
      if (urgency >= 1) count += 1;
    }
    return this.largest(1, count, most);
  }

  /** Posts that may have had comments in a gap, and were not checked or not complete since. */
  private findDueForGaps(gaps: readonly WorkedOnTime[], most: number): Omit<Plan, 'due'> {
    const { posts } = this;
    const waiting = gaps.map(() => 0);
    const unread: { row: number; since: number }[] = [];
    let count = 0;
    for (let row = 0; row < posts.end && gaps.length > 0; row++) {
      this.urgencies[row] = 0;
      if (this.weights[row] === 0) continue;
      const { isUnchecked, unreadSince } = this.waitOf(row, gaps, waiting);
      if (unreadSince < Infinity && posts.reading[row] === 0) unread.push({ row, since: unreadSince });
      if (!isUnchecked || posts.checking[row] === 1) continue;
      this.urgencies[row] = this.weights[row]!;
      count += 1;
    }
    for (const gap of gaps) gap.isNew = false;
    unread.sort((a, b) => a.since - b.since || posts.deficit[b.row]! - posts.deficit[a.row]!);
    const dueForGaps = count === 0 ? [] : this.largest(Number.MIN_VALUE, count, most);
    return { dueForGaps, unread: unread.map(({ row }) => row), waiting };
  }

  /** Adds the gaps that wait for the post to `waiting`. `unreadSince`: the oldest one that waits for its reading. */
  private waitOf(
    row: number,
    gaps: readonly WorkedOnTime[],
    waiting: number[],
  ): { isUnchecked: boolean; unreadSince: number } {
    const { posts } = this;
    let isUnchecked = false;
    let unreadSince = Infinity;
    for (let index = 0; index < gaps.length; index++) {
      const gap = gaps[index]!;
      if (!mayConcern(posts, row, gap)) continue;
      const since = coveredSince(gap);
      const isChecked = posts.checkedAt[row]! > since;
      if (!isChecked || gap.isNew) {
        if (this.isLikely(gap, this.weights[row]! ** 2)) gap.waited[row] = 1;
        else if (!isChecked) continue;
      }
      if (isChecked && (posts.deficit[row] === 0 || gap.waited[row] === 0)) continue;
      if (isChecked) unreadSince = Math.min(unreadSince, since);
      else isUnchecked = true;
      waiting[index]! += 1;
    }
    return { isUnchecked, unreadSince };
  }

  /** Whether the gap waits for a check of the post, which is expected to have `rate` comments a second. */
  private isDueFor(row: number, gap: WorkedOnTime, rate: number): boolean {
    const { posts } = this;
    if (posts.checkedAt[row]! > coveredSince(gap) || !mayConcern(posts, row, gap)) return false;
    return this.isLikely(gap, rate);
  }

  /** While the budget is short, a post is checked for a gap only if it can be expected to have had comments in it. */
  private isLikely({ afterAt, beforeAt }: WorkedOnTime, perSecond: number): boolean {
    return this.isAmple || (perSecond * (beforeAt - afterAt)) / 1000 >= LEAST_IN_GAP;
  }

  /** The rate below which about `count` posts lie, from a sample. */
  private leastRates(now: number, count: number): number {
    const { posts } = this;
    const rates: number[] = [];
    const step = Math.max(1, Math.floor(posts.end / 2_000));
    for (let row = 0; row < posts.end; row += step) {
      if (posts.isUsed(row)) rates.push(this.rateOf(row, now));
    }
    rates.sort((a, b) => a - b);
    return rates[Math.floor((rates.length * count) / posts.size)] ?? 0;
  }

  /** The `most` rows, about, with the highest urgency of at least `least`, in order. The bound comes from a sample. */
  private largest(least: number, count: number, most: number): number[] {
    const { urgencies } = this;
    const end = this.posts.end;
    let bound = least;
    if (count > 2 * most) {
      const step = Math.max(1, Math.floor(end / 20_000));
      const sample: number[] = [];
      for (let row = 0; row < end; row += step) if (urgencies[row]! >= least) sample.push(urgencies[row]!);
      sample.sort((a, b) => b - a);
      bound = sample[Math.floor((sample.length * most) / count)] ?? least;
    }
    const rows: number[] = [];
    for (let row = 0; row < end; row++) if (urgencies[row]! >= bound) rows.push(row);
    return rows.sort((a, b) => urgencies[b]! - urgencies[a]!);
  }
}

/** Comments that a mean thread gets while its age, counted from ten minutes before its birth, grows by a factor e. */
const COMMENTS_PER_FACTOR = 1.5;
const HEAD_START_S = 600;
/** What nothing is known of differs widely: most threads stay empty, a few get thousands of comments. */
const SHAPE = 0.3;

/**
 * Comments a second that a thread can be expected to get now. All threads together get comments at a rate that falls
 * with their age; one thread gets a multiple of it, which its comments so far tell (a gamma prior with the observations
 * of a Poisson process).
 */
function expectedRate(ageMs: number, comments: number): number {
  const seconds = Math.max(0, ageMs) / 1000 + HEAD_START_S;
  const mean = COMMENTS_PER_FACTOR * Math.log(seconds / HEAD_START_S);
  return (((SHAPE + comments) / (SHAPE + mean)) * COMMENTS_PER_FACTOR) / seconds;
}

/** A post that is older by more than this than a missed time is not expected to have had comments in it. */
const OLDER_MS = 2 * 24 * 3_600_000;

/** A time in which a source may have missed comments; all in milliseconds since 1970. */
export interface MissedTime {
  afterAt: number;
  beforeAt: number;
  /** Posts that were checked later than this, and than the end, have been checked for it. */
  openedAt: number;
  /** The communities it concerns, as `communityKey`; default: all. */
  communities?: ReadonlySet<number> | undefined;
}

/** A missed time that is worked on. */
export interface WorkedOnTime extends MissedTime {
  /**
   * By row, 1 for a post that some plan found unchecked since, or the first plan checked before it knew of the time.
   * What was checked before it could be expected to have had comments in that time does not wait for a reading: posts
   * that become busy later would keep a gap open.
   */
  waited: Uint8Array;
  /** No plan has considered it yet. */
  isNew: boolean;
}

/** After this a check covers the time: its end is later than its opening when its source has extended it. */
function coveredSince({ openedAt, beforeAt }: MissedTime): number {
  return Math.max(openedAt, beforeAt);
}

/** Whether the post may have had comments in the time that no complete reading has found since. */
function mayConcern(posts: TrackedPosts, row: number, time: MissedTime): boolean {
  const createdAt = posts.createdAt[row]!;
  if (createdAt > time.beforeAt || createdAt < time.afterAt - OLDER_MS) return false;
  if (posts.completeAt[row]! > coveredSince(time)) return false;
  const community = posts.community[row]!;
  return time.communities === undefined || community === 0 || time.communities.has(community);
}
