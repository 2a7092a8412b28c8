import { CallAllowance, HeadInterval } from './head-interval.ts';
import type { ListingPage, ListingPosition, PageLesson, PageRequest } from './listing-timeline.ts';
import { ListingTimeline } from './listing-timeline.ts';
import type { MissedStretch } from './listing-segment.ts';

/** Calls that overlap. Half of them may read into holes, so that these never delay the newest page. */
export const MAX_IN_FLIGHT = 16;
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
