import { FRESH_OF_PAGE } from './listing-segment.ts';
import type { MissedStretch } from './listing-segment.ts';
import { ListingTimeline } from './listing-timeline.ts';
import type { ListingPage, ListingPosition, PageLesson, PageRequest } from './listing-timeline.ts';
import { CallAllowance } from './pace.ts';
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

  /** Sets the longest interval between two newest pages. */
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
/** An expected rate counts as a measurement of so many items. */
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

  /** Notes that so many items were new in so many milliseconds. */
  learn(items: number, elapsedMs: number): void {
    if (elapsedMs <= 0) return;
    this.items = DECAY * this.items + items;
    this.elapsedMs = DECAY * this.elapsedMs + elapsedMs;
  }

  /** Items a second; 0 while nothing is known. */
  get perSecond(): number {
    return (1000 * this.items) / Math.max(1, this.elapsedMs);
  }

  /** How long so many new items take. */
  msFor(items: number): number {
    return (1000 * items) / Math.max(1e-6, this.perSecond);
  }
}
