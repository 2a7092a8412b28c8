import { z } from 'zod';
import type { CrawlGap } from '../../shared/crawl/crawl-gaps.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import { isOwnBudgetRefusal, UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { listedOf, readThings } from './crawl-source.ts';
import type { Call, CrawlSource, Fetched, Wait } from './crawl-source.ts';
import { FRESH_OF_PAGE, PAGE_SIZE } from './listing-segment.ts';
import type { MissedStretch } from './listing-segment.ts';
import { ListingTimeline } from './listing-timeline.ts';
import type { ListingPage, ListingPosition, PageLesson, PageRequest } from './listing-timeline.ts';
import { CallAllowance } from './pace.ts';
import type { Pace } from './pace.ts';

const savedPosition = z.object({ anchors: z.array(z.string()), newestAt: z.number().optional() });

export interface ListingSourceDeps {
  upstream: Upstream;
  pace: Pace;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Queues a gap; it must be written before the position that passes it. */
  recordGap: (gap: CrawlGap) => void;
}

export interface ListingPlan {
  name: string;
  path: string;
  /** The metrics label of the calls. */
  endpoint: string;
  /**
   * The longest interval between two reads of the newest page, in milliseconds, while the budget is ample: with
   * `latencyShare` of it the reads come as often as that.
   */
  intervalMs: number;
  /** The part of the live budget that reads may take which are not needed to see everything. */
  latencyShare: number;
}

/** Most items are comments, so this interval makes up most of the latency. */
export const ALL_COMMENTS = {
  name: 'listings:comments',
  path: '/r/all/comments',
  endpoint: 'listing-comments',
  intervalMs: 400,
  latencyShare: 0.2,
} as const satisfies ListingPlan;
/**
 * Read only without the walk over post ids, which sees the same posts and more. At the peak of the whole site it would
 * take 0.5 calls/s.
 */
export const POSTS: ListingPlan = {
  name: 'listings:new',
  path: '/r/all/new',
  endpoint: 'listing-new',
  intervalMs: 1_000,
  latencyShare: 0.1,
};

/** Polls a listing of the whole forum with calls that overlap. ListingPolling decides which. */
export class ListingSource implements CrawlSource {
  readonly name: string;
  readonly label = 'listings';
  readonly replay = false;
  readonly maxInFlight = MAX_LISTING_CALLS;
  private readonly plan: ListingPlan;
  private readonly deps: ListingSourceDeps;
  private polling: ListingPolling;

  constructor(plan: ListingPlan, deps: ListingSourceDeps) {
    this.name = plan.name;
    this.plan = plan;
    this.deps = deps;
    this.polling = new ListingPolling({ maxIntervalMs: plan.intervalMs });
  }

  async begin(position: unknown): Promise<void> {
    this.polling = new ListingPolling({
      maxIntervalMs: this.plan.intervalMs,
      position: position === undefined ? undefined : savedPosition.parse(position),
    });
  }

  next(now: number): Call | Wait {
    const { polling, plan } = this;
    polling.setMaxInterval(this.deps.pace.affordableMs(plan.latencyShare, plan.intervalMs));
    const request = polling.next(now, this.deps.pace.perSecond(this.name, polling.wantedPerSecond));
    this.recordGaps(polling);
    if ('waitMs' in request) return request;
    return {
      fetch: (signal) =>
        request.hole ? this.fetchDeeper(polling, request, signal) : this.fetch(polling, request, signal),
      failed: () => {
        polling.failed(request, this.deps.clock());
      },
    };
  }

  position(): unknown {
    return this.polling.position();
  }

  async end(): Promise<void> {
    this.deps.pace.remove(this.name);
  }

  private async fetch(polling: ListingPolling, request: PollRequest, signal: AbortSignal): Promise<Fetched> {
    const { upstream, clock, metrics } = this.deps;
    const { path, endpoint } = this.plan;
    const params = { limit: String(PAGE_SIZE), ...(request.after === undefined ? {} : { after: request.after }) };
    const body = await upstream.get(path, params, { endpoint, lane: 'live', signal });
    const seenAt = clock();
    const { things, malformed, after } = readThings(body, { ...this.deps, label: this.label, endpoint });
    if (things.length + malformed.length === 0 && !request.hole && polling.hasHistory) {
      throw new UpstreamError('broken', `${path} is empty; it held items before`, { reason: 'empty_listing' });
    }
    const items = things.map((thing) => listedOf(thing, seenAt));
    return {
      things,
      malformed,
      seenAt,
      acknowledged: () => {
        const { outcome } = polling.learn(request, { items, after }, clock());
        if (outcome === 'overflow') metrics.crawlerOverflows.inc({ source: this.label });
        this.recordGaps(polling);
      },
    };
  }

  /** A deeper page that the forum refuses must not hold up the newest ones: it counts as answered, and is retried. */
  private async fetchDeeper(polling: ListingPolling, request: PollRequest, signal: AbortSignal): Promise<Fetched> {
    try {
      return await this.fetch(polling, request, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) || isOwnBudgetRefusal(error) || polling.isFailing) throw error;
      const now = this.deps.clock();
      return {
        things: [],
        seenAt: now,
        acknowledged: () => {
          polling.failed(request, now);
        },
      };
    }
  }

  private recordGaps(polling: ListingPolling): void {
    for (const missed of polling.takeGaps()) {
      this.deps.recordGap({ source: this.name, reason: 'listing_too_short', ...missed });
    }
  }
}

/** Calls that overlap. Half of them may read into holes, so that these never delay the newest page. */
export const MAX_LISTING_CALLS = 16;
const MAX_HEADS_IN_FLIGHT = 12;
const MAX_DEEPER_IN_FLIGHT = 8;
/** Unused calls of this many seconds can be made up for, so that a hole is closed soon after it opened. */
const BURST_SECONDS = 3;
/** Holes are given up at this interval at the latest. */
const MAX_WAIT_MS = 1_000;

export interface PollRequest extends PageRequest {
  sentAt: number;
}

/**
 * Decides which page of a listing to ask for, and when. The newest page is asked for at an interval, without waiting
 * for answers; pages into the hole below it are asked for as the calls allow. When calls are short, a newest page that
 * is due because of its new items comes first, then a hole, then a newest page that only reduces latency. Knows no
 * clock and no network; times are milliseconds since 1970.
 */
export class ListingPolling {
  private readonly timeline: ListingTimeline;
  private readonly heads: HeadInterval;
  private sequence = 0;
  private lastHeadAt = Number.NEGATIVE_INFINITY;
  private headsInFlight = 0;
  private deeperInFlight = 0;
  private readonly allowance = new CallAllowance(BURST_SECONDS);

  constructor(options: { maxIntervalMs: number; position?: ListingPosition | undefined }) {
    this.timeline = new ListingTimeline(options.position);
    this.heads = new HeadInterval(options.maxIntervalMs);
  }

  setMaxInterval(maxIntervalMs: number): void {
    this.heads.maxMs = maxIntervalMs;
  }

  /** Calls a second that show everything. */
  get wantedPerSecond(): number {
    return 1000 / this.heads.intervalMs;
  }

  /** The next call, or how long to wait for one. `perSecond`: calls a second that this listing may make. */
  next(now: number, perSecond: number): PollRequest | { waitMs: number } {
    this.timeline.expire(now);
    this.allowance.refill(now, perSecond);
    const untilAllowedMs = this.allowance.waitMs;
    const sinceHeadMs = now - this.lastHeadAt;
    const isHeadFree = this.headsInFlight < MAX_HEADS_IN_FLIGHT;
    const isHeadDue = isHeadFree && sinceHeadMs >= this.heads.intervalMs;
    const isDeeperFree = this.deeperInFlight < MAX_DEEPER_IN_FLIGHT;
    if (untilAllowedMs <= 0) {
      if (isHeadDue && sinceHeadMs >= this.heads.fillMs) return this.head(now);
      const hole = isDeeperFree ? this.timeline.holeToRead(now) : undefined;
      if (hole) {
        hole.isInFlight = true;
        this.deeperInFlight += 1;
        this.allowance.take();
        return { sequence: 0, sentAt: now, after: hole.cursor, hole };
      }
      if (isHeadDue) return this.head(now);
    }
    const untilHeadMs = isHeadFree ? this.heads.intervalMs - sinceHeadMs : Infinity;
    const untilHoleMs = isDeeperFree ? this.timeline.nextRetryAt() - now : Infinity;
    return { waitMs: Math.max(1, untilAllowedMs, Math.min(MAX_WAIT_MS, untilHeadMs, untilHoleMs)) };
  }

  learn(request: PollRequest, page: ListingPage, now: number): PageLesson {
    this.end(request);
    const lesson = this.timeline.learn(request, page, now);
    if (request.hole) this.heads.learnDeeper(lesson);
    else this.heads.learn(request, lesson);
    return lesson;
  }

  failed(request: PollRequest, now: number): void {
    this.end(request);
    this.timeline.failed(request, now);
  }

  get isFailing(): boolean {
    return this.timeline.isFailing;
  }

  get hasHistory(): boolean {
    return this.timeline.hasHistory;
  }

  position(): ListingPosition | undefined {
    return this.timeline.position();
  }

  takeGaps(): MissedStretch[] {
    return this.timeline.takeGaps();
  }

  private head(now: number): PollRequest {
    this.lastHeadAt = now;
    this.allowance.take();
    this.sequence += 1;
    this.headsInFlight += 1;
    return { sequence: this.sequence, sentAt: now, after: undefined, hole: undefined };
  }

  private end(request: PollRequest): void {
    if (request.hole) this.deeperInFlight -= 1;
    else this.headsInFlight -= 1;
  }
}

const MIN_MS = 100;

/**
 * Measures how fast a listing moves, and decides how often its newest page is read: when it has filled. Answers may
 * arrive in any order. Times are milliseconds since 1970.
 */
export class HeadInterval {
  /** The longest interval, however slow the listing is. */
  maxMs: number;
  private readonly rate = new ListingRate();
  private last: { sequence: number; sentAt: number } | undefined;
  /** Items that were new on any page since `last`. */
  private fresh = 0;

  constructor(maxMs: number) {
    this.maxMs = maxMs;
  }

  /** Notes what a newest page was found to be. It counts from the latest one before it that was answered. */
  learn(request: { sequence: number; sentAt: number }, { fresh, outcome }: PageLesson): void {
    if (outcome === 'ignored') return;
    this.fresh += fresh;
    if (this.last && request.sequence <= this.last.sequence) return;
    const elapsedMs = this.last ? request.sentAt - this.last.sentAt : 0;
    this.last = { sequence: request.sequence, sentAt: request.sentAt };
    if (outcome !== 'first') this.rate.learn(this.fresh, elapsedMs);
    this.fresh = 0;
  }

  /** Notes a page below a newest one. */
  learnDeeper({ fresh, outcome }: PageLesson): void {
    if (outcome !== 'ignored') this.fresh += fresh;
  }

  /** How long the listing takes to fill a page. */
  get fillMs(): number {
    return this.rate.msFor(FRESH_OF_PAGE);
  }

  get intervalMs(): number {
    return Math.max(MIN_MS, Math.min(this.maxMs, this.fillMs));
  }
}

/** What remains of a measurement after the next one: about seven count, so that chance overflows fewer readings. */
const DECAY = 0.85;
/** An expected rate counts as a measurement of this many items. */
const EXPECTED_ITEMS = 160;

/** Measures how many new items a listing gets. */
export class ListingRate {
  /** Sums with decaying weights; their ratio is the rate. */
  private items = 0;
  private elapsedMs = 0;

  /** @param perSecond the expected rate in items a second; undefined: unknown */
  constructor(perSecond?: number) {
    if (perSecond === undefined) return;
    this.items = EXPECTED_ITEMS;
    this.elapsedMs = (1000 * EXPECTED_ITEMS) / Math.max(1e-9, perSecond);
  }

  /** Notes how many items were new in how many milliseconds. */
  learn(items: number, elapsedMs: number): void {
    if (elapsedMs <= 0) return;
    this.items = DECAY * this.items + items;
    this.elapsedMs = DECAY * this.elapsedMs + elapsedMs;
  }

  /** Items a second; 0 while nothing is known. */
  get perSecond(): number {
    return (1000 * this.items) / Math.max(1, this.elapsedMs);
  }

  /** How long this many new items take. */
  msFor(items: number): number {
    return (1000 * items) / Math.max(1e-6, this.perSecond);
  }
}
