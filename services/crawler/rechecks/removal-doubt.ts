/** Answers with fewer things say nothing about the forum as a whole. */
const LEAST_THINGS = 20;
/** When most of the things of an answer are gone, a later answer has to confirm it. */
const CONFIRM_AFTER_MS = 600_000;
/** So long a confirmation holds: the removal of a whole community fills many answers. */
const CONFIRMED_MS = 3_600_000;

/**
 * A removal cannot be taken back, and one wrong answer of the forum must not blank everything. So an answer in which
 * more than half of the things are newly gone is believed only if the forum still says so ten minutes later.
 */
export class RemovalDoubt {
  private doubtedSince: number | undefined;
  private confirmedUntil = Number.NEGATIVE_INFINITY;

  /** Whether an answer in which `gone` of `asked` things are newly gone is believed. `now`: milliseconds since 1970. */
  isBelievable(gone: number, asked: number, now: number): boolean {
    if (gone < LEAST_THINGS || gone * 2 <= asked) {
      this.doubtedSince = undefined;
      return true;
    }
    if (now < this.confirmedUntil) return true;
    this.doubtedSince ??= now;
    if (now - this.doubtedSince < CONFIRM_AFTER_MS) return false;
    this.doubtedSince = undefined;
    this.confirmedUntil = now + CONFIRMED_MS;
    return true;
  }
}
