/** The smallest share, one of a thousand. */
const LEAST = 0.001;
/** Behind by more than this, the share is lowered; by less than the second, it is raised. */
const BEHIND_MS = 10 * 60_000;
const CAUGHT_UP_MS = 60_000;
const ADAPT_EVERY_MS = 60_000;
/** What is behind by more is skipped: a look that comes so late is worth less than those that are due. */
const LOST_MS = 6 * 3_600_000;

/** Which share of all things gets a look at an age, so that the budget suffices. */
export class RecheckShare {
  private adaptedAt = Number.NEGATIVE_INFINITY;
  share = 1;

  /** @param behindMs how long the next thing has been due */
  adapt(now: number, behindMs: number): void {
    if (now - this.adaptedAt < ADAPT_EVERY_MS) return;
    this.adaptedAt = now;
    if (behindMs > BEHIND_MS) this.share = Math.max(LEAST, this.share * 0.7);
    else if (behindMs < CAUGHT_UP_MS) this.share = Math.min(1, this.share * 1.1);
  }

  /** Where to go on with what is due until `due`. */
  static resume(position: number, due: number): number {
    return Math.max(position, due - LOST_MS);
  }
}
