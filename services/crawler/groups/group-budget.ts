/** The budget of a moment follows every burst of the other callers; groups are planned with the mean of this time. */
const SMOOTHING_MS = 60_000;
/** Calls a second for all groups while the limits of the forum are unknown. */
const UNKNOWN_PER_SECOND = 5;

/**
 * Shares the calls for groups among the slices that this process holds, in proportion to their comments, and knows
 * whether they suffice.
 */
export class GroupBudget {
  private readonly perSecondOfAll: () => number;
  private readonly slices = new Map<string, { share: number; isShort: boolean }>();
  private mean: { perSecond: number; at: number } | undefined;

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
    const share = this.slices.get(slice)?.share ?? 0;
    const all = this.smoothed(now);
    if (all === Infinity) return UNKNOWN_PER_SECOND * share;
    const held = [...this.slices.values()].reduce((sum, other) => sum + other.share, 0);
    return held === 0 ? 0 : (all * share) / held;
  }

  private smoothed(now: number): number {
    const all = this.perSecondOfAll();
    if (all === Infinity) return all;
    const elapsedMs = now - (this.mean?.at ?? now);
    // The clock was set back.
    if (elapsedMs < 0) this.mean = undefined;
    const weight = this.mean ? 1 - Math.exp(-elapsedMs / SMOOTHING_MS) : 1;
    const before = this.mean?.perSecond ?? 0;
    this.mean = { perSecond: before + weight * (all - before), at: now };
    return this.mean.perSecond;
  }

  /** True if a slice leaves out communities that are worth their calls. */
  get isShort(): boolean {
    return [...this.slices.values()].some(({ isShort }) => isShort);
  }
}
