import type { PageLesson } from './listing-timeline.ts';

/**
 * A page should bring about this many new items. At 300 items/s of the whole site 80 cost 3.1 calls/s, with the deeper
 * pages of those that overflow, where 65 cost 3.4 and 88 cost 3.2.
 */
const FRESH_PER_PAGE = 80;
const MIN_INTERVAL_MS = 100;
/** What remains of a measurement after the next page: about seven pages count, so that chance overflows fewer pages. */
const DECAY = 0.85;
/** A page with only new items says that the rate is higher than measured, but not how much. */
const OVERFLOW_FACTOR = 1.5;

/**
 * Measures how fast a listing moves, and how often its newest page should be read. Answers may arrive in any order: a
 * page counts from the latest request before it that was answered. Times are milliseconds since 1970.
 */
export class HeadInterval {
  /** The longest interval, however slow the listing is. */
  maxIntervalMs: number;
  /** Sums with decaying weights; their ratio is the rate. */
  private items = 0;
  private elapsedMs = 0;
  private last: { sequence: number; sentAt: number } | undefined;

  constructor(maxIntervalMs: number) {
    this.maxIntervalMs = maxIntervalMs;
  }

  /** Notes what a newest page was found to be. */
  learn(request: { sequence: number; sentAt: number }, page: PageLesson): void {
    if (page.outcome === 'ignored' || (this.last && request.sequence <= this.last.sequence)) return;
    const elapsedMs = this.last ? request.sentAt - this.last.sentAt : 0;
    this.last = { sequence: request.sequence, sentAt: request.sentAt };
    if (elapsedMs <= 0 || page.outcome === 'first') return;
    if (page.outcome === 'overflow') {
      this.items = Math.max(page.fresh, this.itemsPerMs * elapsedMs) * OVERFLOW_FACTOR;
      this.elapsedMs = elapsedMs;
      return;
    }
    this.items = DECAY * this.items + page.fresh;
    this.elapsedMs = DECAY * this.elapsedMs + elapsedMs;
  }

  private get itemsPerMs(): number {
    return this.items / Math.max(1, this.elapsedMs);
  }

  /** How long the listing takes for as many new items as a page should bring. */
  get fillMs(): number {
    return FRESH_PER_PAGE / Math.max(1e-9, this.itemsPerMs);
  }

  get intervalMs(): number {
    return Math.max(MIN_INTERVAL_MS, Math.min(this.maxIntervalMs, this.fillMs));
  }
}
