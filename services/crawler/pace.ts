/** The longest interval, however little of the budget is left. */
const MAX_INTERVAL_MS = 30_000;

/**
 * Shares the calls that the forum allows among the sources of this process. Each source requests an interval. When all
 * sources together would exceed the budget, every interval is stretched by the same factor.
 */
export class Pace {
  private readonly perSecondOfAll: () => number;
  /** Calls per second that each source requested last. */
  private readonly requestedRates = new Map<string, number>();

  /** `perSecond`: calls per second that the budget sustains; Infinity while it is unknown. */
  constructor(perSecond: () => number) {
    this.perSecondOfAll = perSecond;
  }

  /**
   * Returns the milliseconds that `source` should leave between two calls. While no call is allowed at all, nothing is
   * stretched: the forum's refusal itself says when to retry.
   */
  intervalMs(source: string, requestedMs: number): number {
    this.requestedRates.set(source, 1000 / requestedMs);
    const total = [...this.requestedRates.values()].reduce((sum, rate) => sum + rate, 0);
    const affordable = this.perSecondOfAll();
    if (affordable <= 0 || affordable >= total) return requestedMs;
    return Math.min(MAX_INTERVAL_MS, (requestedMs * total) / affordable);
  }

  /**
   * Like `intervalMs`, for a source that comes before the others as long as its calls take at most `share` of the
   * budget.
   */
  preferredMs(source: string, requestedMs: number, share: number): number {
    return Math.min(this.intervalMs(source, requestedMs), this.affordableMs(share, requestedMs));
  }

  /** Returns the calls a second that `source` may make: its part of all, in proportion to what it requests. */
  perSecond(source: string, requested: number): number {
    this.requestedRates.set(source, requested);
    const total = [...this.requestedRates.values()].reduce((sum, rate) => sum + rate, 0);
    const affordable = this.perSecondOfAll();
    return affordable <= 0 ? Infinity : Math.max(1000 / MAX_INTERVAL_MS, (requested * affordable) / total);
  }

  /**
   * Returns the milliseconds between calls that only make the source faster: they may take `share` of the budget, and
   * never come closer than `shortestMs`.
   */
  affordableMs(share: number, shortestMs: number): number {
    const affordable = this.perSecondOfAll();
    if (affordable <= 0) return shortestMs;
    return Math.max(shortestMs, Math.min(MAX_INTERVAL_MS, 1000 / (share * affordable)));
  }

  /** Removes a source that has ended from the shares. */
  remove(source: string): void {
    this.requestedRates.delete(source);
  }
}
