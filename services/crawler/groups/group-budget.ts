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
