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
  /** Calls a second that each slice wants. */
  private readonly wanted = new Map<string, number>();
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
    this.wanted.delete(slice);
  }

  /**
   * Calls a second that a slice may make, which wants so many: its part of what all slices want, so that one lends what
   * it does not need to another. `now`: milliseconds since 1970.
   */
  perSecond(slice: string, wanted: number, now: number): number {
    this.note(now);
    const all = this.mean.value;
    if (all === Infinity || !this.slices.has(slice)) return this.partOf(slice, all);
    this.wanted.set(slice, wanted);
    const total = [...this.wanted.values()].reduce((sum, each) => sum + each, 0);
    return total <= all ? this.partOf(slice, all - total) + wanted : (all * wanted) / total;
  }

  /** Calls a second that groups of a slice should be planned with. */
  plannedPerSecond(slice: string, now: number): number {
    this.note(now);
    return this.partOf(slice, this.mean.value);
  }

  /** True if a slice leaves out communities that are worth their calls. */
  get isShort(): boolean {
    return [...this.slices.values()].some(({ isShort }) => isShort);
  }

  private note(now: number): void {
    this.mean.note(this.perSecondOfAll(), now);
  }

  private partOf(slice: string, all: number): number {
    const share = this.slices.get(slice)?.share ?? 0;
    if (all === Infinity) return UNKNOWN_PER_SECOND * share;
    const held = [...this.slices.values()].reduce((sum, other) => sum + other.share, 0);
    return held === 0 ? 0 : (all * share) / held;
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
