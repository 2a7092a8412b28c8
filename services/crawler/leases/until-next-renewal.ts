/**
 * The milliseconds to wait after a renewal that began at `begun` and ended at `now`, so that renewals begin `everyMs`
 * apart. A slow answer takes from the wait, so that the next renewal does not come too late. Times are milliseconds
 * since 1970; a clock that was set back or forward costs one full wait at most.
 */
export function untilNextRenewal(everyMs: number, begun: number, now: number): number {
  const tookMs = now - begun;
  return tookMs < 0 ? everyMs : Math.max(0, everyMs - tookMs);
}
