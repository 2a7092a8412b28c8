/** What is known before anything was measured: in the forum's own tests the listing dropped about this much. */
const ASSUMED_LOSS = 0.1;
/** The assumption counts as this many comments. */
const ASSUMED_CHECKS = 200;
const DECAY_MS = 3_600_000;

/** Measures which part of the comments the listing of all communities does not show; older measurements fade. */
export class LossMeter {
  private checked = 0;
  private missed = 0;
  private at: number | undefined;

  /** `now` in milliseconds since 1970. */
  note(checked: number, missed: number, now: number): void {
    const left = Math.exp(-Math.max(0, now - (this.at ?? now)) / DECAY_MS);
    this.at = now;
    this.checked = this.checked * left + checked;
    this.missed = this.missed * left + missed;
  }

  /** From 0 to 1. */
  get loss(): number {
    return (this.missed + ASSUMED_LOSS * ASSUMED_CHECKS) / (this.checked + ASSUMED_CHECKS);
  }
}
