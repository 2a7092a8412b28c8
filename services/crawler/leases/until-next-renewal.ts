/** A timer may end a little before the moment that it was set to. */
const EARLY_MS = 50;

/**
 * The milliseconds to wait after a renewal that began at `begun` and ended at `now`, so that renewals begin `everyMs`
 * apart, and all renewals of a process in the same moment: they share a statement then. A slow answer takes from the
 * wait, so that the next renewal does not come too late. Times are milliseconds since 1970; a clock that was set back
 * or forward costs one full wait at most.
 */
export function untilNextRenewal(everyMs: number, begun: number, now: number): number {
  const since = Math.min(begun, now);
  const next = (Math.floor((since + EARLY_MS) / everyMs) + 1) * everyMs;
  return Math.min(everyMs, Math.max(0, next - now));
}
