/**
 * Until when something waits, by a clock that may be set back. What was planned before then comes after what was left of
 * the wait when it was last asked for, and not only when the clock shows that time again. Times are in milliseconds.
 */
export class PlannedTime {
  private at = Number.NEGATIVE_INFINITY;
  private lastNow = Number.NEGATIVE_INFINITY;

  /** How long it is until then; negative when it has passed. */
  waitMs(now: number): number {
    this.follow(now);
    return this.at - now;
  }

  set(now: number, waitMs: number): void {
    this.follow(now);
    this.at = now + waitMs;
  }

  /** Like `set`, but never shortens the wait. */
  extend(now: number, waitMs: number): void {
    this.follow(now);
    this.at = Math.max(this.at, now + waitMs);
  }

  /** Nothing waits any more. */
  clear(): void {
    this.at = Number.NEGATIVE_INFINITY;
  }

  private follow(now: number): void {
    if (now < this.lastNow) this.at -= this.lastNow - now;
    this.lastNow = now;
  }
}
