import { PlannedTime } from '../../runtime/clock.ts';

/** The back-off after the first failure in a row; each further one doubles it. */
const FIRST_BACK_OFF_MS = 30_000;
const LONGEST_BACK_OFF_MS = 600_000;
/** The shortest and the longest pause after a 429, unless the forum asks for a longer one. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Whether the forum accepts an OAuth client, as far as its calls tell. States: working → failing (a token request
 * failed, or a fresh token was rejected) → working (the forum accepted a token). A failing client may be tried again
 * after each back-off. Times are milliseconds since 1970.
 */
export class ClientHealth {
  private failures = 0;
  private readonly backOff = new PlannedTime();
  private busySince: number | undefined;

  /** From a failure until the next success. */
  get isFailing(): boolean {
    return this.failures > 0;
  }

  /** Milliseconds until a failing client may be tried again; at most 0: now. */
  waitMs(now: number): number {
    return this.isFailing ? this.backOff.waitMs(now) : 0;
  }

  /** Calls that fail together count once. Returns whether a phase of failures begins. */
  failed(now: number): boolean {
    const begins = !this.isFailing;
    if (!begins && this.backOff.waitMs(now) > 0) return false;
    this.backOff.set(now, Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** this.failures));
    this.failures += 1;
    return begins;
  }

  /** Call this after each answer to a valid token. Returns whether a phase of failures ends. */
  answered(): boolean {
    const ends = this.isFailing;
    this.failures = 0;
    this.busySince = undefined;
    return ends;
  }

  /** Returns to the first back-off, because the cause of the failures is not this client. */
  forgive(now: number): void {
    if (!this.isFailing) return;
    this.failures = 1;
    if (this.backOff.waitMs(now) > FIRST_BACK_OFF_MS) this.backOff.set(now, FIRST_BACK_OFF_MS);
  }

  /**
   * The pause after a 429, in milliseconds: what the forum asks for, but at least a quarter of the time for which every
   * call of this client has got one.
   */
  pauseMs(retryAfterMs: number, now: number): number {
    if (this.busySince === undefined || now < this.busySince) this.busySince = now;
    const shortestMs = Math.min(LONGEST_PAUSE_MS, (now - this.busySince) / 4);
    return Math.max(SHORTEST_PAUSE_MS, retryAfterMs, shortestMs);
  }
}
