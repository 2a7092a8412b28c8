/** The usual averaging time of rates. An unused share is lent to others within a second. */
const RATE_WINDOW_MS = 500;
/** Minimum burst at any rate: as many calls as a page of comments makes at a time. */
const MIN_BURST = 4;

/**
 * Measures the recent rate of events, in events a second, as an exponentially weighted count. Times are milliseconds.
 */
export class EventRate {
  private readonly windowMs: number;
  private rate = 0;
  private updatedAt = -Infinity;

  constructor(windowMs = RATE_WINDOW_MS) {
    this.windowMs = windowMs;
  }

  note(now: number): void {
    this.rate = this.perSecond(now) + 1000 / this.windowMs;
    this.updatedAt = now;
  }

  perSecond(now: number): number {
    return this.rate * Math.exp(-Math.max(0, now - this.updatedAt) / this.windowMs);
  }
}

/**
 * A token bucket whose rate may change at any time. It starts full. When the rate falls, its tokens are cut. Infinity
 * means no limit. Tokens can be owed, up to as many as the bucket holds.
 */
export class TokenBucket {
  private tokens = Infinity;
  private capacity = Infinity;
  private rate = Infinity;
  private updatedAt = -Infinity;

  /** @param burstSeconds capacity of the bucket in seconds of the rate */
  setRate(perSecond: number, burstSeconds: number, now: number): void {
    this.fill(now);
    this.rate = perSecond;
    this.capacity = Math.max(MIN_BURST, perSecond * burstSeconds);
    this.tokens = Math.max(-this.capacity, Math.min(this.tokens, this.capacity));
  }

  /**
   * Milliseconds until a token is available; Infinity: never at this rate.
   *
   * @param reserve the part of a full bucket that must be left, from 0 to 1
   */
  waitMs(now: number, reserve = 0): number {
    this.fill(now);
    const missing = 1 - this.tokens + (reserve === 0 ? 0 : reserve * this.capacity);
    return missing <= 0 || this.tokens === Infinity ? 0 : (missing * 1000) / this.rate;
  }

  take(now: number): void {
    this.fill(now);
    this.tokens -= 1;
  }

  private fill(now: number): void {
    this.tokens =
      this.rate === Infinity ? Infinity : this.tokens + (Math.max(0, now - this.updatedAt) * this.rate) / 1000;
    // Also when the clock was set back: otherwise nothing would refill until it shows that time again.
    this.updatedAt = now;
  }
}
