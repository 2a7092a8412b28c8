/** When live tails do what, in milliseconds. */
export interface LiveTailTiming {
  /** A stream that nothing woke looks for new matches this often. */
  pollMs: number;
  /** After so long without anything sent a comment is, so that nobody between takes the stream for dead. */
  heartbeatMs: number;
  /** A client that takes nothing for so long is cut off. */
  stallMs: number;
  /**
   * A page that took longer to be sent is read again from where it got to: its reader may have lost the right to the
   * rest.
   */
  pageMs: number;
  /** How often the leases of places are renewed. */
  renewMs: number;
  /** How long a place stays taken when the process that held it was killed. */
  leaseMs: number;
}

export const LIVE_TAIL_TIMING: LiveTailTiming = {
  pollMs: 10_000,
  heartbeatMs: 15_000,
  stallMs: 60_000,
  pageMs: 1_000,
  renewMs: 15_000,
  leaseMs: 60_000,
};
