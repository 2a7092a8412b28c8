import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { readArchivedPosts, readCommentActivity } from '../../../shared/crawl/thread-items.ts';
import type { ArchivedPost } from '../../../shared/crawl/thread-items.ts';
import type { CommentActivity } from './thread-sweep.ts';

const HOUR_MS = 3_600_000;
const EVERY_MS = 10_000;
/**
 * At every sixth read, new posts are read again from ten minutes before the newest one known, as archivers of several
 * partitions may be behind each other; by the reads between from half a minute before.
 */
const OVERLAP_EVERY = 6;
const OVERLAP_MS = 10 * 60_000;
const SHORT_OVERLAP_MS = 30_000;
/** Comments reach the archive within a few seconds; later ones are not counted here, which costs only precision. */
const ARCHIVE_LAG_MS = 10_000;
/** Posts with comments this long before are reported again: late ones may have reached the archive since. */
const LATE_MS = 60_000;
/** The time of a query while what is archived is loaded: few rows at once, also of a forum with 80 posts a second. */
const LOAD_STEP_MS = 20 * 60_000;
/** While fewer rows come than this, the next query is for twice the time. */
const FEW_ROWS = 10_000;
const LONGEST_LOAD_STEP_MS = 16 * LOAD_STEP_MS;
const LIMIT = 100_000;

export interface ArchivedActivityDeps {
  clickhouse: ClickHouseClient;
  clock: Clock;
  logger: Logger;
  /** Posts up to this age are of interest. */
  ageMs: number;
}

export interface ActivityListener {
  add: (post: ArchivedPost) => void;
  /** Undefined: only posts are of interest. */
  noteActivity?: (activity: CommentActivity) => void;
  /** Whether it takes no further post, so that no earlier ones need to be loaded. */
  isFull?: () => boolean;
  /** The archive did not answer: some of what it got meanwhile may not be reported. */
  noteOutage?: (now: number) => void;
}

/**
 * Reports to a listener what is archived: first the posts up to an age, some minutes at a time, the latest first, then
 * the activity in them in the same way; then what is new.
 */
export class ArchivedActivity {
  private readonly listener: ActivityListener;
  private readonly ageMs: number;
  private loaded = 0;
  private readonly deps: ArchivedActivityDeps;
  /** Posts first seen before this are loaded still; undefined once all are. Then likewise their activity. */
  private loadUntil: number | undefined;
  private activityUntil: number | undefined;
  /** What is loaded was first seen after this, and commented on later still. */
  private loadedFrom: number;
  /** The time of the next query of the load. */
  private stepMs = LOAD_STEP_MS;
  private readonly startedAt: number;
  /** The newest first sight of a post that is known. */
  private newestAt: number;
  /** Reads of new posts. */
  private reads = 0;
  private commentsTo: number;
  private isRunning = false;
  private dueAt = Number.NEGATIVE_INFINITY;

  constructor(listener: ActivityListener, deps: ArchivedActivityDeps) {
    this.listener = listener;
    this.ageMs = deps.ageMs;
    this.deps = deps;
    this.startedAt = deps.clock();
    this.loadUntil = this.startedAt;
    this.loadedFrom = this.startedAt;
    this.activityUntil = listener.noteActivity === undefined ? undefined : this.startedAt - ARCHIVE_LAG_MS;
    this.newestAt = this.startedAt;
    this.commentsTo = this.startedAt - ARCHIVE_LAG_MS;
  }

  /** Whether the listener knows what was archived before the start. */
  get isLoaded(): boolean {
    return this.loadUntil === undefined && this.activityUntil === undefined;
  }

  /** When `next` is due; milliseconds since 1970. */
  get nextAt(): number {
    return this.isRunning ? Number.POSITIVE_INFINITY : this.dueAt;
  }

  /** The queries that are due. */
  next(now: number): { run: (signal: AbortSignal) => Promise<void>; failed: () => void } | undefined {
    if (this.isRunning || now < this.dueAt) return undefined;
    this.isRunning = true;
    return {
      run: async (signal) => {
        if (this.loadUntil !== undefined) await this.load(this.loadUntil, signal);
        else if (this.activityUntil !== undefined) await this.loadActivity(this.activityUntil, signal);
        else await this.follow(now, signal);
        this.isRunning = false;
      },
      failed: () => {
        this.isRunning = false;
        // The query may have been too large.
        this.stepMs = LOAD_STEP_MS;
        this.listener.noteOutage?.(this.deps.clock());
      },
    };
  }

  private async load(until: number, signal: AbortSignal): Promise<void> {
    const from = until - this.stepMs;
    const createdFrom = this.startedAt - this.ageMs;
    const posts = await readArchivedPosts(this.deps.clickhouse, { from, to: until, createdFrom, limit: LIMIT }, signal);
    if (!this.isWhole(posts.length)) return;
    for (const post of posts.reverse()) this.listener.add(post);
    this.loaded += posts.length;
    const isLoaded = from <= createdFrom || this.listener.isFull?.() === true;
    this.loadUntil = isLoaded ? undefined : from;
    this.loadedFrom = from;
    if (!isLoaded) return;
    this.stepMs = LOAD_STEP_MS;
    this.deps.logger.info({ posts: this.loaded }, 'following the latest posts of the archive');
  }

  private async loadActivity(until: number, signal: AbortSignal): Promise<void> {
    const from = until - this.stepMs;
    const range = { from, to: until, limit: LIMIT };
    const comments = await readCommentActivity(this.deps.clickhouse, range, signal);
    if (!this.isWhole(comments.length)) return;
    for (const activity of comments) this.listener.noteActivity?.({ ...activity, isPast: true });
    this.activityUntil = from <= this.loadedFrom ? undefined : from;
  }

  /** Whether a query of the load brought all rows; if not, it is repeated for a shorter time. */
  private isWhole(rows: number): boolean {
    const isWhole = rows < LIMIT || this.stepMs <= LOAD_STEP_MS;
    if (!isWhole) this.stepMs /= 2;
    else if (rows < FEW_ROWS) this.stepMs = Math.min(LONGEST_LOAD_STEP_MS, this.stepMs * 2);
    return isWhole;
  }

  private async follow(now: number, signal: AbortSignal): Promise<void> {
    const { clickhouse } = this.deps;
    const createdFrom = now - this.ageMs;
    const from = this.newestAt - (this.reads % OVERLAP_EVERY === 0 ? OVERLAP_MS : SHORT_OVERLAP_MS);
    const range = { from, to: now + HOUR_MS, createdFrom, limit: LIMIT };
    const posts = await readArchivedPosts(clickhouse, range, signal);
    for (const post of posts) this.listener.add(post);
    this.reads += 1;
    this.newestAt = Math.max(this.newestAt, posts.at(-1)?.seenAt ?? 0);
    // While the archive is behind, nothing newer than this is known of any post.
    this.newestAt = Math.min(this.newestAt, now);
    this.dueAt = now + EVERY_MS;
    if (this.listener.noteActivity === undefined) return;
    const activity = { from: this.commentsTo, to: now - ARCHIVE_LAG_MS, limit: LIMIT };
    const alsoFrom = this.commentsTo - LATE_MS;
    for (const post of await readCommentActivity(clickhouse, { ...activity, alsoFrom }, signal)) {
      this.listener.noteActivity(post);
    }
    this.commentsTo = activity.to;
  }
}
