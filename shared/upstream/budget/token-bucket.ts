/** Averaging time of rates. An unused share is lent to others within a second. */
const RATE_WINDOW_MS = 500;
/** Minimum burst at any rate: as many calls as a page of comments makes at a time. */
const MIN_BURST = 4;

/**
 * Measures the recent rate of events, in events a second, as an exponentially weighted count. Times are milliseconds.
 */
export class EventRate {
  private rate = 0;
  private updatedAt = -Infinity;

  note(now: number): void {
    this.rate = this.perSecond(now) + 1000 / RATE_WINDOW_MS;
    this.updatedAt = now;
  }

  perSecond(now: number): number {
    return this.rate * Math.exp(-Math.max(0, now - this.updatedAt) / RATE_WINDOW_MS);
  }
}

/**
 * A token bucket whose rate may change at any time. It starts full. When the rate falls, its tokens are cut. Infinity
 * means no limit.
 */
export class TokenBucket {
  private tokens = Infinity;
  private rate = Infinity;
  private updatedAt = -Infinity;

  /** @param burstSeconds capacity of the bucket in seconds of the rate */
  setRate(perSecond: number, burstSeconds: number, now: number): void {
    this.fill(now);
    this.rate = perSecond;
    this.tokens = Math.min(this.tokens, Math.max(MIN_BURST, perSecond * burstSeconds));
  }

  /** Milliseconds until a token is available; Infinity: never at this rate. */
  waitMs(now: number): number {
    this.fill(now);
    return this.tokens >= 1 ? 0 : ((1 - this.tokens) * 1000) / this.rate;
  }

  take(now: number): void {
    this.fill(now);
    this.tokens -= 1;
  }

  private fill(now: number): void {
    this.tokens =
      this.rate === Infinity ? Infinity : this.tokens + (Math.max(0, now - this.updatedAt) * this.rate) / 1000;
    this.updatedAt = Math.max(this.updatedAt, now);
  }
}
