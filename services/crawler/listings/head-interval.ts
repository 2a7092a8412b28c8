import type { PageLesson } from './listing-timeline.ts';
import { FRESH_OF_PAGE } from './listing-segment.ts';

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

/**
 * The calls that a source may make now, when it may make some number a second. Unused calls of `burstSeconds` can be
 * made up for. Times are milliseconds since 1970.
 */
export class CallAllowance {
  private readonly burstSeconds: number;
  private calls = 1;
  private perSecond = Infinity;
  private refilledAt: number | undefined;

  constructor(burstSeconds: number) {
    this.burstSeconds = burstSeconds;
  }

  /** Adds what was earned since the last time. `perSecond`: Infinity while no limit is known. */
  refill(now: number, perSecond: number): void {
    const elapsedMs = Math.max(0, now - (this.refilledAt ?? now));
    this.refilledAt = now;
    this.perSecond = perSecond;
    const most = Math.max(1, this.burstSeconds * perSecond);
    // Infinity times zero is not a number.
    const earned = elapsedMs === 0 ? 0 : (perSecond * elapsedMs) / 1000;
    this.calls = perSecond === Infinity ? most : Math.min(most, this.calls + earned);
  }

  take(): void {
    this.calls -= 1;
  }

  /** Milliseconds until the next call; 0 if one may be made now, Infinity if none may ever be. */
  get waitMs(): number {
    return this.calls >= 1 ? 0 : ((1 - this.calls) * 1000) / this.perSecond;
  }
}
