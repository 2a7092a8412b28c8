import type { PageLesson } from './listing-timeline.ts';

export interface HeadIntervalOptions {
  /** A page should bring about this many new items; the rest is room for the chance of a busy moment. */
  freshPerPage: number;
  minMs: number;
  maxMs: number;
  /** The expected rate, in items a second; default: unknown. */
  perSecond?: number;
}

/** What remains of a measurement after the next page: about seven pages count, so that chance overflows fewer pages. */
const DECAY = 0.85;
/** A page with only new items says that the rate is higher than measured, but not how much. */
const OVERFLOW_FACTOR = 1.5;

/**
 * Measures how fast a listing moves, and how often its newest page should be read. Answers may arrive in any order: a
 * page counts from the latest request before it that was answered. Times are milliseconds since 1970.
 */
export class HeadInterval {
  private options: HeadIntervalOptions;
  /** Sums with decaying weights; their ratio is the rate. */
  private items = 0;
  private elapsedMs = 0;
  private last: { sequence: number; sentAt: number } | undefined;

  constructor(options: HeadIntervalOptions) {
    this.options = options;
    if (options.perSecond === undefined) return;
    this.items = 2 * options.freshPerPage;
    this.elapsedMs = (1000 * this.items) / Math.max(1e-9, options.perSecond);
  }

  /** Sets the longest interval, however slow the listing is. */
  setMax(maxMs: number): void {
    this.options = { ...this.options, maxMs };
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
    return this.options.freshPerPage / Math.max(1e-9, this.itemsPerMs);
  }

  get intervalMs(): number {
    return Math.max(this.options.minMs, Math.min(this.options.maxMs, this.fillMs));
  }
}
