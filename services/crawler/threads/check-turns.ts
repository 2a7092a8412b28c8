/** So many calls of one kind may be made up for, after a time in which there was nothing of it to do. */
const MOST_CALLS = 4;

/**
 * Keeps checks to their share of the calls while threads wait to be read: a plan holds more posts than its checks can
 * ask for, and those that gaps wait for come on top.
 */
export class CheckTurns {
  /** The share of the calls that checks may take, from 0 to 1. */
  share = 1;
  /** Checks beyond their share, in calls. */
  private ahead = 0;

  get mayCheck(): boolean {
    return this.ahead <= 0;
  }

  /** `calls`: -1 takes back a check that failed. */
  noteCheck(calls: 1 | -1): void {
    this.move(calls * (1 - this.share));
  }

  noteReading(calls: 1 | -1): void {
    this.move(-calls * this.share);
  }

  private move(calls: number): void {
    this.ahead = Math.max(-MOST_CALLS, Math.min(MOST_CALLS, this.ahead + calls));
  }
}
