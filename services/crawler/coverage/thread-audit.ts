import type { UnknownPosts } from './audit-source.ts';

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

interface AuditOptions {
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
  private deadline = Number.POSITIVE_INFINITY;
  private toCheck: string[] = [];
  private readonly checking = new Set<string>();
  private readings = new AuditReadings([]);
  private finished: AuditedWindow | undefined;
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

/** A post that was chosen at its birth. */
interface AuditedPost {
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
function sizeOf({ before, counted, grownBefore }: AuditedPost): number {
  return Math.max(0, (counted ?? 0) - (before ?? 0)) + EARLIER_GROWTH * grownBefore;
}

/** Comments on older posts are few. */
export const AUDITED_AGE_MS = 48 * 3_600_000;
const LEAST_CHANCE = 0.0005;
/** Part of the calls between the end of a window and its readings that checks may use. */
const CHECK_MARGIN = 0.7;
/** Fewer of the older posts were chosen, so the probability rises slowly. */
const MOST_RISE = 1.1;

/** The first phase of the audit: a share of all posts, chosen at birth by a hash of their ids. */
class AuditedPosts {
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

  /** The posts created before `end`, in the order of their hashes. */
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

/** A thread that may be read for a window. */
export interface Candidate {
  postId: string;
  /** Growth of num_comments in the window: the size to which the probability of the choice is proportional. */
  size: number;
  /** Probability of the first phase. */
  chance: number;
  /** A number in [0, 1) for the choice. */
  hash: number;
}

export interface AuditCount {
  /** Comments of the window that were archived before the reading, from another source than the audit. */
  seen: number;
  /** All comments of the window that the thread shows. */
  total: number;
}

interface WeightedCount extends AuditCount {
  postId: string;
  weight: number;
}

/**
 * The second phase: threads in the order of hash ⁄ size, as many as the budget allows (priority sampling: Duffield,
 * Lund and Thorup, Journal of the ACM 54, 2007). With t the value of the first thread that was not read, a thread was
 * chosen with the probability min(1, t · size), so its weight is known once the readings have ended.
 */
class AuditReadings {
  private readonly candidates: readonly Candidate[];
  private readonly counts = new Map<string, AuditCount>();
  private readonly again: Candidate[] = [];
  private next = 0;
  /** Every second one repeats a failed one, so that a thread that always fails keeps no other from being read. */
  private taken = 0;
  private inFlight = 0;

  constructor(candidates: readonly Candidate[]) {
    this.candidates = [...candidates].sort((a, b) => a.hash / a.size - b.hash / b.size);
  }

  get read(): number {
    return this.counts.size;
  }

  get isIdle(): boolean {
    return this.inFlight === 0;
  }

  get isComplete(): boolean {
    return this.counts.size === this.candidates.length;
  }

  take(): Candidate | undefined {
    this.taken += 1;
    const isAgain = this.taken % 2 === 0 || this.next >= this.candidates.length;
    const candidate = (isAgain ? this.again.shift() : undefined) ?? this.candidates[this.next++] ?? this.again.shift();
    if (candidate !== undefined) this.inFlight += 1;
    return candidate;
  }

  learn(postId: string, count: AuditCount): void {
    this.inFlight -= 1;
    this.counts.set(postId, count);
  }

  failed(candidate: Candidate): void {
    this.inFlight -= 1;
    this.again.push(candidate);
  }

  /** The samples of what was read so far. */
  samples(): WeightedCount[] {
    const firstUnread = this.candidates.find(({ postId }) => !this.counts.has(postId));
    const bound = firstUnread === undefined ? Infinity : firstUnread.hash / firstUnread.size;
    return this.candidates.flatMap(({ postId, size, chance, hash }): WeightedCount[] => {
      const count = this.counts.get(postId);
      if (count === undefined || hash / size >= bound) return [];
      return [{ postId, weight: 1 / (chance * Math.min(1, bound * size)), ...count }];
    });
  }
}

/**
 * A number in [0, 1) that depends on the seed and the text only, and in no visible way: FNV-1a, then the finalizer of
 * MurmurHash3. So a sample can be drawn again after a restart, and is independent of everything that was seen.
 */
export function samplingHash(seed: number, text: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
