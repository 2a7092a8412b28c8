import { AuditedPosts, sizeOf } from './audited-posts.ts';
import { AuditReadings } from './audit-readings.ts';
import type { AuditCount, Candidate, WeightedCount } from './audit-readings.ts';
import type { UnknownPosts } from './post-gaps.ts';
import { samplingHash } from './sampling-hash.ts';

const HOUR_MS = 3_600_000;
/** Lengths of a window, all of which divide an hour. The shortest that the budget allows is used. */
const STEPS_MS = [300_000, 900_000, HOUR_MS];
const CAPACITY = 100_000;
const POSTS_PER_CHECK = 100;
/** Calls that a reading takes in the mean. */
const CALLS_PER_READING = 1.5;
/** A window that ended longer ago is not audited any more. */
const LATEST_MS = 12 * HOUR_MS;
/** How long after its end a window waits for posts that are caught up with. */
const LONGEST_WAIT_MS = 6 * HOUR_MS;

/** A time within one hour; milliseconds since 1970. */
export interface AuditWindow {
  start: number;
  end: number;
}

/** The samples of a window, to be stored before the audit moves on. */
export interface AuditedWindow extends AuditWindow {
  samples: WeightedCount[];
}

export interface AuditOptions {
  seed: number;
  /** In ascending order; default: 5 min, 15 min, 1 h. Half a window passes between its end and its readings. */
  stepsMs?: readonly number[];
  capacity?: number;
}

type Phase = 'open' | 'checking' | 'waiting' | 'reading';

/**
 * Decides which threads are read completely, some time after their comments, to measure which share had been seen. Each
 * thread is chosen with a known probability that does not depend on what was seen: its post by a hash at birth, then
 * the thread in proportion to how much num_comments grew in a window of time. No clock, no network.
 *
 *   open ──end of the window, all its posts known──▶ checking: num_comments of all chosen posts
 *        ──▶ waiting, half a window ──▶ reading ──▶ samples, and the next window
 *
 * What is not done in time lowers the probabilities instead of biasing the sample: posts are checked in the order of
 * their hashes, threads are read in the order of `AuditReadings`, and both orders may end anywhere.
 */
export class ThreadAudit {
  private readonly posts: AuditedPosts;
  private readonly seed: number;
  private readonly stepsMs: readonly number[];
  private readonly longestMs: number;
  private stepMs: number;
  private phase: Phase = 'open';
  private window: AuditWindow;
  /** When the phase should be over. */
  private deadline = Number.POSITIVE_INFINITY;
  private toCheck: string[] = [];
  private readonly checking = new Set<string>();
  private readings = new AuditReadings([]);
  private finished: AuditedWindow | undefined;
  /** When the readings of the window began. */
  private readingSince = Number.POSITIVE_INFINITY;
  private unknownPosts: readonly UnknownPosts[] = [];
  /** Threads with comments a second, to foresee whether all can be read. */
  private candidatesPerSecond = 0;

  /** @param from the end of the last window that was audited; `now` on the first start */
  constructor(options: AuditOptions, from: number, now: number) {
    this.seed = options.seed;
    this.stepsMs = options.stepsMs ?? STEPS_MS;
    this.posts = new AuditedPosts(options.seed, options.capacity ?? CAPACITY);
    this.longestMs = this.stepsMs.at(-1)!;
    this.stepMs = now - from > this.longestMs ? this.longestMs : this.stepsMs[0]!;
    this.window = this.windowFrom(Math.max(from, now - LATEST_MS));
  }

  get current(): Readonly<AuditWindow> {
    return this.window;
  }

  /** The moment as of which the readings of the current window count what was seen. */
  get seenBy(): number {
    return this.readingSince;
  }

  /** Posts that are followed. */
  get size(): number {
    return this.posts.size;
  }

  /** Offers a post of the forum; repeating it changes nothing. */
  offer(postId: string, createdAt: number): void {
    this.posts.offer(postId, createdAt, createdAt >= this.window.start);
  }

  /** The times whose posts are not all known: their windows wait, so that these posts can be chosen too. */
  setUnknownPosts(times: readonly UnknownPosts[]): void {
    this.unknownPosts = times;
  }

  /**
   * The posts whose num_comments is to be asked now, at most a hundred; each batch must come back in `learnChecks` or
   * `checkFailed`. `unknown`: those whose count at the begin of the window is not known.
   */
  nextCheck(now: number, callsPerSecond: number): { postIds: string[]; unknown: string[] } | undefined {
    this.advance(now, callsPerSecond);
    if (this.phase !== 'checking') return undefined;
    const postIds = this.toCheck.splice(-POSTS_PER_CHECK);
    if (postIds.length === 0) return undefined;
    for (const postId of postIds) this.checking.add(postId);
    return { postIds, unknown: postIds.filter((postId) => this.posts.get(postId)?.before === undefined) };
  }

  /** `before`: comments archived before the window, for the posts that were `unknown`. */
  learnChecks(checked: readonly { postId: string; comments: number | undefined; before?: number | undefined }[]): void {
    for (const { postId, comments, before } of checked) {
      if (!this.checking.delete(postId)) continue;
      const post = this.posts.get(postId);
      if (post === undefined) continue;
      post.before ??= before ?? comments ?? 0;
      // A post that the forum does not return any more got no comments.
      post.counted = comments ?? post.before;
    }
  }

  checkFailed(postIds: readonly string[]): void {
    for (const postId of postIds) if (this.checking.delete(postId)) this.toCheck.push(postId);
  }

  /** The thread to read completely; it must come back in `learnReading` or `readingFailed`. */
  nextReading(now: number, callsPerSecond: number): Candidate | undefined {
    this.advance(now, callsPerSecond);
    // Past its deadline the window only waits for the readings in flight: with one more begun before each end, it would
    // never be over.
    if (this.phase !== 'reading' || now > this.deadline) return undefined;
    return this.readings.read < this.mostReadings(callsPerSecond) ? this.readings.take() : undefined;
  }

  learnReading(postId: string, count: AuditCount): void {
    this.readings.learn(postId, count);
  }

  readingFailed(candidate: Candidate): void {
    this.readings.failed(candidate);
  }

  /** The samples of a window that has ended. No call is due before they were taken. */
  takeFinished(now: number, callsPerSecond: number): AuditedWindow | undefined {
    this.advance(now, callsPerSecond);
    const { finished } = this;
    this.finished = undefined;
    return finished;
  }

  /** When to ask again if nothing is due. */
  nextAt(now: number): number {
    if (this.phase === 'open') return Math.max(this.window.end, now + 1_000);
    if (this.phase === 'waiting') return this.readFrom();
    // Past it, calls in flight keep the phase from ending; their end has this asked again.
    return this.deadline > now ? Math.min(this.deadline, now + 1_000) : now + 1_000;
  }

  private advance(now: number, callsPerSecond: number): void {
    if (this.finished !== undefined) return;
    this.waitForPosts(now);
    if (this.phase === 'open' && now >= this.window.end && !this.lacksPosts(now)) this.startChecking(now);
    if (this.phase === 'checking' && (this.isChecked() || now > this.deadline)) this.choose();
    if (this.phase === 'waiting' && now >= this.readFrom()) {
      this.phase = 'reading';
      this.readingSince = now;
      this.deadline = now + this.stepMs / 2;
    }
    if (this.phase !== 'reading' || !this.readings.isIdle) return;
    const isEnough = this.readings.isComplete || this.readings.read >= this.mostReadings(callsPerSecond);
    if (isEnough || now > this.deadline) this.finish(now, callsPerSecond);
  }

  private lacksPosts(now: number): boolean {
    const { start, end } = this.window;
    if (now - end > LONGEST_WAIT_MS) return false;
    return this.unknownPosts.some(({ afterAt, beforeAt }) => afterAt < end && beforeAt >= start);
  }

  /** Until the readings begin, the checks are made again when posts turn out to be missing. */
  private waitForPosts(now: number): void {
    if ((this.phase !== 'checking' && this.phase !== 'waiting') || !this.lacksPosts(now)) return;
    this.phase = 'open';
    this.toCheck = [];
    this.checking.clear();
  }

  private startChecking(now: number): void {
    this.phase = 'checking';
    this.deadline = Math.max(this.readFrom(), now + this.stepMs / 2);
    // The smallest hash last: batches are taken from the end.
    const posts = this.posts.createdBefore(this.window.end).reverse();
    this.toCheck = posts.map(({ postId }) => postId);
    this.checking.clear();
  }

  private isChecked(): boolean {
    return this.toCheck.length === 0 && this.checking.size === 0;
  }

  private choose(): void {
    const unchecked = [...this.toCheck, ...this.checking].map((postId) => this.posts.get(postId)?.hash ?? 1);
    if (unchecked.length > 0) this.posts.thin(unchecked.reduce((least, hash) => Math.min(least, hash), 1));
    const candidates = this.posts.createdBefore(this.window.end).flatMap((post): Candidate[] => {
      const size = sizeOf(post);
      const hash = samplingHash(this.seed + 1 + (this.window.start / 1_000) * 31, post.postId);
      return size > 0 ? [{ postId: post.postId, size, chance: post.chance, hash }] : [];
    });
    this.readings = new AuditReadings(candidates);
    this.candidatesPerSecond = (candidates.length * 1_000) / (this.window.end - this.window.start);
    this.toCheck = [];
    this.phase = 'waiting';
  }

  private finish(now: number, callsPerSecond: number): void {
    this.finished = { ...this.window, samples: this.readings.samples() };
    this.posts.endWindow(this.window.end, callsPerSecond, this.longestMs / 2_000);
    this.stepMs = now - this.window.end > this.longestMs ? this.longestMs : this.chooseStep(callsPerSecond);
    this.window = this.windowFrom(Math.max(this.window.end, now - LATEST_MS));
    this.readings = new AuditReadings([]);
    this.phase = 'open';
  }

  /** The shortest step at which all posts can be checked and all threads be read. */
  private chooseStep(callsPerSecond: number): number {
    const fits = (stepMs: number): boolean => {
      const calls = (callsPerSecond * stepMs) / 2_000;
      const readings = (this.candidatesPerSecond * stepMs * CALLS_PER_READING) / 1_000;
      return this.posts.size / POSTS_PER_CHECK <= calls / 2 && readings <= calls;
    };
    return this.stepsMs.find(fits) ?? this.longestMs;
  }

  private windowFrom(start: number): AuditWindow {
    const next = (stepMs: number): number => (Math.floor(start / stepMs) + 1) * stepMs;
    return { start, end: Math.min(next(this.stepMs), next(HOUR_MS)) };
  }

  private readFrom(): number {
    return this.window.end + this.stepMs / 2;
  }

  private mostReadings(callsPerSecond: number): number {
    return Math.max(20, Math.floor((callsPerSecond * this.stepMs) / 2_000 / CALLS_PER_READING));
  }
}
