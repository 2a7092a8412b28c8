/** Rates are measured over about so long: a share that nobody wants any more is lent within a second. */
const RATE_WINDOW_MS = 500;
/** Whatever the rate, so many calls may come at once: as many as a page of comments asks for at a time. */
const MIN_BURST = 4;

/** How often something happens lately, in events a second: an exponentially weighted count. Times are milliseconds. */
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
 * A token bucket whose rate changes while it is used. It begins full, and what it holds is cut when its rate falls.
 * Infinity is a rate without a limit.
 */
export class TokenBucket {
  private tokens = Infinity;
  private rate = Infinity;
  private updatedAt = -Infinity;

  /** @param burstSeconds how many seconds of the rate it holds at most */
  setRate(perSecond: number, burstSeconds: number, now: number): void {
    this.fill(now);
    this.rate = perSecond;
    this.tokens = Math.min(this.tokens, Math.max(MIN_BURST, perSecond * burstSeconds));
  }

  /** Milliseconds until there is a token; Infinity: never at this rate. */
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
