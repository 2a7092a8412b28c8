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
