import { CheckPlan } from './check-plan.ts';
import type { MissedTime, WorkedOnTime } from './check-plan.ts';
import { CAPACITY, FRUITLESS_AT_LONGEST, MAX_FRUITLESS, ReadingQueue, restMs, TrackedPosts } from './tracked-posts.ts';
import type { NewPost } from './tracked-posts.ts';

/** Posts in one call of /api/info. */
export const POSTS_PER_CHECK = 100;
/** A plan lasts a second for each of this many posts. */
const POSTS_PER_PLAN_SECOND = 5_000;
const SHORTEST_PLAN_MS = 5_000;
const LONGEST_PLAN_MS = 60_000;
/** The least share of the calls that goes into checks while threads wait to be read. */
const LEAST_CHECK_SHARE = 0.25;
/** With this many seconds of readings waiting, checks get only that share. */
const BACKLOG_S = 60;
/**
 * Between a check and the count of what is archived. Comments that other sources show in this time need no reading;
 * while the budget is short it is long enough for every listing.
 */
const SETTLE_MS = 5_000;
const SETTLE_SHORT_MS = 45_000;
/**
 * How long an answer of the archive counts. Nothing reports a comment that reaches the archive minutes after it was
 * seen.
 */
const KNOWN_MS = 15 * 60_000;
const NEVER = Number.NEGATIVE_INFINITY;
/** After a reading that found comments and left some unread: by then the archive has the former. */
const ARCHIVED_AFTER_MS = 45_000;

/**
 * Decides which posts to ask for num_comments and which threads to read, so that comments are found which no listing
 * showed. No clock, no network: the caller passes the time and makes the calls. The deficit of a post is num_comments
 * less the archived comments less its residual: what a complete reading could not find, such as removed comments. A
 * deletion lowers num_comments; the residual then follows, and may be negative.
 */
export class ThreadSweep {
  private readonly posts = new TrackedPosts();
  private readonly plan: CheckPlan;
  private readonly readings = new ReadingQueue(this.posts);
  /** Until then earlier counts of archived comments do not count: the archive did not answer. */
  private distrustedUntil = Number.NEGATIVE_INFINITY;
  private due: number[] = [];
  private dueForGaps: number[] = [];
  private plannedAt = Number.NEGATIVE_INFINITY;
  private planMs = SHORTEST_PLAN_MS;
  private gaps: readonly (WorkedOnTime & { id: number })[] = [];
  private waitingFor = new Map<number, number>();
  private picked = 0;
  private readonly checkShare = new CheckShare();

  /** `shortestMs`: the least time between two checks of a post; default: a minute. */
  constructor(shortestMs?: number) {
    this.plan = new CheckPlan(this.posts, shortestMs);
  }

  get size(): number {
    return this.posts.size;
  }

  /** Posts whose thread waits to be read. */
  get backlog(): number {
    return this.posts.waiting.size;
  }

  /** Milliseconds after a check at which the archive should be asked. */
  get settleMs(): number {
    return this.plan.isAmple ? Math.min(SETTLE_MS, this.plan.shortestMs / 2) : SETTLE_SHORT_MS;
  }

  /** Follows a post. Repeating it changes nothing. `comments`: those archived so far. */
  add(post: NewPost): void {
    const row = this.posts.rowOf(post.postId);
    if (row !== undefined) this.posts.markNew(row, post);
    else if (!this.isFull()) this.posts.add(post);
  }

  isFull(): boolean {
    return this.posts.size >= CAPACITY;
  }

  /** Notes comments that other sources saw; an unknown post is followed as if it began with the oldest of them. */
  noteActivity({ postId, comments, oldestAt, subreddit, isPast = false }: CommentActivity): void {
    const row = this.posts.rowOf(postId);
    if (row === undefined) {
      if (!isPast) this.add({ postId, createdAt: oldestAt, comments, subreddit, isOld: true });
      return;
    }
    this.posts.comments[row]! += comments;
    this.posts.hasGrown[row] = 1;
  }

  /** Sets the gaps to work on: posts that may have had comments in them are checked with half of the checks. */
  setGaps(gaps: readonly (MissedTime & { id: number })[]): void {
    const known = new Map(this.gaps.map((gap) => [gap.id, gap]));
    const isPlanned = (gap: MissedTime & { id: number }): boolean => {
      const before = known.get(gap.id);
      const sameTime = before?.afterAt === gap.afterAt && before.beforeAt === gap.beforeAt;
      return sameTime && before.communities?.size === gap.communities?.size;
    };
    const planned = new Set(gaps.filter(isPlanned).map(({ id }) => id));
    if (planned.size < gaps.length) this.plannedAt = Number.NEGATIVE_INFINITY;
    this.gaps = gaps.map((gap) => {
      const before = planned.has(gap.id) ? known.get(gap.id) : undefined;
      return { ...gap, waited: before?.waited ?? new Uint8Array(CAPACITY), isNew: before?.isNew ?? true };
    });
    this.waitingFor = new Map([...this.waitingFor].filter(([id]) => planned.has(id)));
  }

  /** Posts that a gap still waits for, as of the last plan; undefined before a plan with the gap's present bounds. */
  waitingForGap(id: number): number | undefined {
    return this.waitingFor.get(id);
  }

  /**
   * The posts to ask for num_comments now, by bare id, at most a hundred; undefined when none is due. Each batch must
   * come back in `learnChecks` or `checkFailed`.
   *
   * @param callsPerSecond that the budget allows for this sweep; Infinity while that is unknown
   */
  nextCheck(now: number, callsPerSecond: number): string[] | undefined {
    this.planIfNeeded(now, callsPerSecond);
    if (!this.checkShare.mayCheck && this.readings.hasOpen(now)) return undefined;
    const { posts } = this;
    const batch: string[] = [];
    while (batch.length < POSTS_PER_CHECK) {
      this.picked += 1;
      const [first, second] = this.picked % 2 === 0 ? [this.dueForGaps, this.due] : [this.due, this.dueForGaps];
      const row = first.pop() ?? second.pop();
      if (row === undefined) break;
      if (!posts.isUsed(row) || posts.checking[row] === 1) continue;
      posts.checking[row] = 1;
      // What the archive gets from now on counts for the next check.
      if (posts.hasGrown[row] === 1) posts.askedAt[row] = NEVER;
      posts.hasGrown[row] = 0;
      batch.push(posts.ids[row]!);
    }
    if (batch.length === 0) return undefined;
    this.checkShare.noteCheck(1);
    return batch;
  }

  /** When the last plan was made; `waitingForGap` knows no later posts. */
  get lastPlanAt(): number {
    return this.plannedAt;
  }

  /** When `nextCheck` makes its next plan. */
  get nextPlanAt(): number {
    return this.plannedAt + this.planMs;
  }

  /**
   * How many comments of a checked post are archived; undefined: the archive must be asked. Most checks find neither a
   * new comment of the forum nor one of the archive.
   *
   * @param comments that the forum counted at `checkedAt`
   */
  archivedOf(postId: string, comments: number, checkedAt: number): number | undefined {
    const row = this.posts.rowOf(postId);
    if (row === undefined || comments === 0) return 0;
    const { askedAt, counted, difference, deficit } = this.posts;
    const isTrusted = checkedAt > this.distrustedUntil && checkedAt - askedAt[row]! < KNOWN_MS;
    const isKnown = isTrusted && comments === counted[row] && deficit[row] === 0;
    return isKnown ? counted[row]! - difference[row]! : undefined;
  }

  /** Call this when the archive did not answer: it is behind, and what it gets late is not noticed. */
  noteOutage(now: number): void {
    this.distrustedUntil = now + KNOWN_MS;
  }

  /** @param checkedAt when num_comments was received */
  learnChecks(checkedAt: number, checked: readonly CheckedPost[]): void {
    for (const post of checked) {
      const row = this.posts.rowOf(post.postId);
      if (row !== undefined) this.learnCheck(row, checkedAt, post);
    }
  }

  /** The posts are due at once, or with the next plan. */
  checkFailed(postIds: readonly string[], { isLater = false } = {}): void {
    if (!isLater) this.checkShare.noteCheck(-1);
    for (const postId of postIds) {
      const row = this.posts.rowOf(postId);
      if (row === undefined || this.posts.checking[row] === 0) continue;
      this.posts.checking[row] = 0;
      if (!isLater) this.due.push(row);
    }
  }

  /** Whether the post is older than what the archive holds of it. */
  isOld(postId: string): boolean {
    const row = this.posts.rowOf(postId);
    return row !== undefined && this.posts.isOld[row]! > 0;
  }

  /**
   * The thread to read now; it must come back in `learnReading` or `readingFailed`. `from`: comments created before are
   * not looked for.
   */
  nextReading(now: number): { postId: string; deficit: number; from: number } | undefined {
    const row = this.readings.take(now);
    if (row === undefined) return undefined;
    this.checkShare.noteReading(1);
    this.posts.reading[row] = 1;
    const { ids, deficit, createdAt } = this.posts;
    return { postId: ids[row]!, deficit: deficit[row]!, from: createdAt[row]! };
  }

  learnReading(postId: string, { readAt, comments, known, found, unread, isBrokenOff = false }: ReadThread): void {
    const { posts } = this;
    const row = posts.rowOf(postId);
    if (row === undefined) return;
    posts.reading[row] = 0;
    posts.askedAt[row] = NEVER;
    if (unread === 0) posts.completeAt[row] = readAt;
    posts.difference[row] = comments - known;
    // A reading that found nothing is not repeated before the post grows, even if it left something unread; one that
    // was broken off is, a few times.
    const isFruitless = isBrokenOff && found === 0;
    posts.fruitless[row] = isFruitless ? posts.fruitless[row]! + 1 : 0;
    const isRepeated = found > 0 || (isFruitless && posts.fruitless[row] < MAX_FRUITLESS);
    const left = isRepeated ? unread : 0;
    posts.residual[row] = comments - known - left;
    posts.setDeficit(row, left);
    if (left > 0) posts.restsUntil[row] = readAt + (isFruitless ? restMs(posts.fruitless[row]) : ARCHIVED_AFTER_MS);
  }

  /** The thread waits again, unless it is inaccessible: an outage of the forum, however long, gives nothing up. */
  readingFailed(postId: string, why: ReadingFailure, now: number): void {
    const row = this.posts.rowOf(postId);
    if (row === undefined) return;
    const { posts, readings } = this;
    posts.reading[row] = 0;
    if (why === 'own_budget') {
      readings.undoTake();
      this.checkShare.noteReading(-1);
      return;
    }
    if (why === 'inaccessible') {
      posts.residual[row] = posts.difference[row]!;
      posts.setDeficit(row, 0);
      return;
    }
    posts.fruitless[row] = Math.min(FRUITLESS_AT_LONGEST, posts.fruitless[row]! + 1);
    posts.restsUntil[row] = now + restMs(posts.fruitless[row]);
  }

  private planIfNeeded(now: number, callsPerSecond: number): void {
    if (now < this.nextPlanAt) return;
    this.plan.drop(now, this.gaps);
    this.planMs = Math.min(
      LONGEST_PLAN_MS,
      Math.max(SHORTEST_PLAN_MS, (this.posts.size / POSTS_PER_PLAN_SECOND) * 1_000),
    );
    this.plannedAt = now;
    const backlogS = callsPerSecond > 0 ? this.backlog / callsPerSecond : BACKLOG_S;
    this.checkShare.share = Math.max(LEAST_CHECK_SHARE, 1 - backlogS / BACKLOG_S);
    const checksPerSecond = callsPerSecond * this.checkShare.share * POSTS_PER_CHECK;
    const { due, dueForGaps, unread, waiting } = this.plan.make(now, checksPerSecond, this.planMs, this.gaps);
    this.readings.setUnread(unread);
    // The most urgent last: a batch is taken from the end.
    this.due = due.reverse();
    this.dueForGaps = dueForGaps.reverse();
    this.waitingFor = new Map(this.gaps.map(({ id }, index) => [id, waiting[index]!]));
  }

  private learnCheck(row: number, checkedAt: number, { postId, comments, archived: answer }: CheckedPost): void {
    const { posts } = this;
    const archived = answer ?? this.archivedOf(postId, comments ?? 0, checkedAt);
    posts.noteCheck(row, checkedAt, comments);
    // A later reading is more accurate.
    const isOutdated = posts.reading[row] === 1 || posts.completeAt[row]! >= checkedAt;
    if (comments === undefined || archived === undefined || isOutdated) {
      posts.askedAt[row] = NEVER;
      return;
    }
    if (answer !== undefined) posts.askedAt[row] = checkedAt;
    const difference = comments - archived;
    if (posts.isOld[row] === 2) {
      posts.isOld[row] = 1;
      posts.residual[row] = difference;
    }
    // Deletions lower it for good; a count that lags behind for one check does not.
    const lower = Math.max(difference, posts.difference[row]!);
    posts.residual[row] = Math.min(posts.residual[row]!, lower);
    posts.difference[row] = difference;
    const deficit = Math.max(0, difference - posts.residual[row]);
    if (deficit === 0) posts.completeAt[row] = checkedAt;
    posts.setDeficit(row, deficit);
  }
}

/** What the forum and the archive say about a post. */
interface CheckedPost {
  postId: string;
  /** num_comments; undefined when the forum did not return the post. */
  comments: number | undefined;
  /** Archived comments that were created until the check; undefined: as many as `archivedOf` said. */
  archived: number | undefined;
}

/** Why a thread was not read: the forum shows it to nobody any more, our own budget refused the call, or it failed. */
type ReadingFailure = 'inaccessible' | 'own_budget' | 'failed';

/** Comments of a post that other sources saw. */
export interface CommentActivity {
  postId: string;
  comments: number;
  oldestAt: number;
  subreddit?: string | undefined;
  /** It was before the start: posts that are not followed are passed over. */
  isPast?: boolean;
}

/** What a reading of a thread showed. */
interface ReadThread {
  readAt: number;
  /** num_comments in the thread's answer. */
  comments: number;
  /** Comments that are archived or were found now. */
  known: number;
  /** Of these, those that were not archived before. */
  found: number;
  /** Comments that the thread names, but that could not be read in this reading. */
  unread: number;
  /** The reading failed after its first call, so it says nothing about what is unread. */
  isBrokenOff?: boolean;
}

/** The calls of one kind that may be made up for, after a time in which there was nothing of it to do. */
const MOST_CALLS = 4;

/**
 * Keeps checks to their share of the calls while threads wait to be read: a plan holds more posts than its checks can
 * ask for, and those that gaps wait for come on top.
 */
class CheckShare {
  /** The share of the calls that checks may take, from 0 to 1. */
  share = 1;
  /** Checks beyond their share, in calls. */
  private ahead = 0;

  get mayCheck(): boolean {
    return this.ahead <= 0;
  }

  /** `calls`: -1 takes back a check that failed. */
  noteCheck(calls: 1 | -1): void {
    this.move(calls * (1 - this.share));
  }

  noteReading(calls: 1 | -1): void {
    this.move(-calls * this.share);
  }

  private move(calls: number): void {
    this.ahead = Math.max(-MOST_CALLS, Math.min(MOST_CALLS, this.ahead + calls));
  }
}
