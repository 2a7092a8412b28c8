/** A moment by a server's own clock. */
export interface ServerMoment {
  /** Milliseconds since 1970. */
  ms: number;
  /** Which server: when it started, in microseconds since 1970. Its standby has another one. */
  server: number;
}

/**
 * A server is known to run when it has answered so recently. A virtual machine that is paused together with its clock
 * passes each check of its own time, so no more is sent to one than the statements that are under way.
 */
const RECENT_MS = 1_000;
/** An answer that took longer leaves too little of the deadline: a change would mostly be late, and be made again. */
const PROMPT_MS = 500;
/** A change that the server comes to later than this after that answer is not made. */
const IN_TIME_MS = 1_500;
/** A change that was in time is committed within this, or never (`transaction_timeout`). */
export const COMMIT_WITHIN_MS = 2_000;
/** From the last answer to the last moment in which a change can be committed. */
export const LAST_COMMIT_MS = IN_TIME_MS + COMMIT_WITHIN_MS;

/**
 * The time of PostgreSQL, as its last answer told it. A statement that must not take effect once its request was
 * answered as failed carries a deadline in that time: a server that was suspended or cut off meanwhile finds that it is
 * too late. The server compares its own clock with itself; no clock of ours takes part.
 *
 * What it cannot tell: that the server's clock was set back by seconds while the statement was delayed for longer than
 * a request waits.
 */
export class ServerTime {
  private last: ServerMoment | undefined;
  private heardAt = Number.NEGATIVE_INFINITY;

  /**
   * Answers in another order only make the deadline earlier.
   *
   * @param tookMs from the question to the answer that told it
   */
  heard(moment: ServerMoment, tookMs: number): void {
    if (tookMs > PROMPT_MS) return;
    this.last = moment;
    this.heardAt = performance.now();
  }

  /** Until when a change may be made; undefined when the server has not answered for a while. */
  deadline(): ServerMoment | undefined {
    if (this.last === undefined || performance.now() - this.heardAt > RECENT_MS) return undefined;
    return { ms: this.last.ms + IN_TIME_MS, server: this.last.server };
  }
}
