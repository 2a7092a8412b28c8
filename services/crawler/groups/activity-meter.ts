const DECAY_MS = 600_000;
/** Before anything was measured, the usual activity counts as this many comments. */
const ASSUMED_COMMENTS = 500;
const MOST = 5;

/**
 * Measures how much more the communities write now than on average over a day: twice as much at noon as at night.
 * Older measurements fade.
 */
export class ActivityMeter {
  private comments = 0;
  private usual = 0;
  private at: number | undefined;

  /**
   * Notes what groups brought.
   *
   * @param comments that were new on a page
   * @param usual what the average rates give for the time since the page before
   * @param now milliseconds since 1970
   */
  note(comments: number, usual: number, now: number): void {
    const left = Math.exp(-Math.max(0, now - (this.at ?? now)) / DECAY_MS);
    this.at = now;
    this.comments = this.comments * left + comments;
    this.usual = this.usual * left + usual;
  }

  /** A multiple of the average rates. */
  get activity(): number {
    const activity = (this.comments + ASSUMED_COMMENTS) / (this.usual + ASSUMED_COMMENTS);
    return Math.min(MOST, Math.max(1 / MOST, activity));
  }
}
