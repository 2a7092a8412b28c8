/** Intervals and time limits of live tails, in milliseconds. */
export interface LiveTailTiming {
  /** How often a stream looks for new matches when nothing wakes it. */
  pollMs: number;
  /** After this long without output the stream sends a comment, so that no proxy considers it dead. */
  heartbeatMs: number;
  /** A client that reads nothing for this long is disconnected. */
  stallMs: number;
  /**
   * A page that took longer to send is read again from the last match sent: its reader may have lost access in the
   * meantime.
   */
  pageMs: number;
  /** How often the leases of stream slots are renewed. */
  renewMs: number;
  /** How long a slot stays taken after its process was killed. */
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
