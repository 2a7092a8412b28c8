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

/** The mean of a minute counts: the budget of a moment follows every burst of the other callers. */
const MEAN_MS = 60_000;
/** The first value counts as known for this long. */
const FIRST_MS = 60_000;
/** Calls a second for all groups while the limits of the forum are unknown. */
const UNKNOWN_PER_SECOND = 5;

/**
 * Shares the calls for groups among the slices that this process holds, in proportion to their comments, and knows
 * whether they suffice.
 */
export class GroupBudget {
  private readonly perSecondOfAll: () => number;
  private readonly slices = new Map<string, { share: number; isShort: boolean }>();
  private readonly mean = new SlowMean(MEAN_MS);

  /** `perSecond`: calls a second that the budget sustains for groups in this process; Infinity while it is unknown. */
  constructor(perSecond: () => number) {
    this.perSecondOfAll = perSecond;
  }

  /** Adds a slice with its part in all comments, from 0 to 1. */
  set(slice: string, share: number, isShort: boolean): void {
    this.slices.set(slice, { share: Math.max(0.001, share), isShort });
  }

  /** Removes a slice that this process no longer holds. */
  remove(slice: string): void {
    this.slices.delete(slice);
  }

  /** Calls a second that a slice may make. `now`: milliseconds since 1970. */
  perSecond(slice: string, now: number): number {
    this.mean.note(this.perSecondOfAll(), now);
    const all = this.mean.value;
    const share = this.slices.get(slice)?.share ?? 0;
    if (all === Infinity) return UNKNOWN_PER_SECOND * share;
    const held = [...this.slices.values()].reduce((sum, other) => sum + other.share, 0);
    return held === 0 ? 0 : (all * share) / held;
  }

  /** True if a slice leaves out communities that are worth their calls. */
  get isShort(): boolean {
    return [...this.slices.values()].some(({ isShort }) => isShort);
  }
}

/** The mean over about the last `spanMs`; at first over all the time since the first value. */
class SlowMean {
  /** Infinity while only infinite values are known. */
  value = Infinity;
  private readonly spanMs: number;
  private since = 0;
  private at = 0;

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  note(value: number, now: number): void {
    if (value === Infinity || this.value === Infinity) {
      this.value = value;
      this.since = now;
    } else if (now > this.at) {
      const spanMs = Math.min(this.spanMs, FIRST_MS + now - this.since);
      this.value += Math.min(1, (now - this.at) / spanMs) * (value - this.value);
    }
    this.at = now;
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
