import type { PageLesson } from './listing-timeline.ts';
import { freshOfPages } from './listing-segment.ts';

/** Pages of one reading, from the newest down to what is known. More would save little. */
const MOST_PAGES = 5;
/** Less than half of what the forum's listings hold: when the last page of a reading comes, it should lie higher. */
const DEEPEST = 450;
/** What remains of the longest round trip after the next one. */
const ROUND_TRIP_LEFT = 0.98;

/**
 * Measures how fast a listing moves, and decides how often its newest page is read. The pages of a reading, from the
 * newest down to what is known, should come back nearly full. While one page fills in less than `maxMs`, readings have
 * several pages, which have less room for chance each, and begin about as often as that. Answers may arrive in any
 * order. Times are milliseconds since 1970.
 */
export class HeadInterval {
  /** Pages that a reading should have. */
  pages = 1;
  private readonly minMs: number;
  private maxMs: number;
  private readonly rate = new ListingRate();
  private last: { sequence: number; sentAt: number } | undefined;
  /** Items that were new on any page since `last`. */
  private fresh = 0;
  private roundTripMs = 0;

  /** @param options.maxMs the longest interval, however slow the listing is */
  constructor({ minMs, maxMs }: { minMs: number; maxMs: number }) {
    this.minMs = minMs;
    this.maxMs = maxMs;
  }

  setMax(maxMs: number): void {
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
    this.choosePages();
  }

  /** Notes a page below a newest one. */
  learnDeeper({ fresh, outcome }: PageLesson): void {
    if (outcome !== 'ignored') this.fresh += fresh;
  }

  /** Notes how long a call took until its page was learned. */
  learnRoundTrip(ms: number): void {
    this.roundTripMs = Math.max(ms, ROUND_TRIP_LEFT * this.roundTripMs);
  }

  /** How long the listing takes for as many new items as a reading should bring. */
  get fillMs(): number {
    return this.rate.msFor(freshOfPages(this.pages));
  }

  get intervalMs(): number {
    // A reading of several pages begins later than the longest interval, so that the pages are full.
    const most = this.pages === 1 ? this.maxMs : Infinity;
    return Math.max(this.minMs, Math.min(most, this.fillMs));
  }

  /** Calls a second, with deeper pages. */
  get callsPerSecond(): number {
    return (this.pages * 1000) / this.intervalMs;
  }

  private choosePages(): void {
    const depthOf = (pages: number): number =>
      freshOfPages(pages) + (this.rate.perSecond * this.roundTripMs * (pages - 1)) / 1000;
    this.pages = 1;
    while (this.pages < MOST_PAGES && this.fillMs < this.maxMs && depthOf(this.pages + 1) <= DEEPEST) this.pages += 1;
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
