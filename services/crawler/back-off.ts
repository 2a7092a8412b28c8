import { UpstreamError } from '../../shared/upstream/upstream-error.ts';

const LEAST_MS = 250;
const MOST_MS = 30_000;
const MOST_JITTERED_MS = 8_000;
/** Whoever is blocked gains nothing by knocking often. */
const REFUSED_LEAST_MS = 5_000;

/**
 * Milliseconds to wait after a failure. It grows with the outage, a quarter of the time it has lasted, so that noticing
 * its end takes at most a quarter longer than the outage; the forum's own Retry-After is a lower bound. Up to a quarter
 * of jitter, at most 2 s, is added, never subtracted. `random` is in [0, 1).
 */
export function backOffMs(error: unknown, failingForMs: number, random: number): number {
  const isRefused = error instanceof UpstreamError && error.failure === 'refused';
  const least = Math.max(
    isRefused ? REFUSED_LEAST_MS : LEAST_MS,
    error instanceof UpstreamError ? (error.retryAfterMs ?? 0) : 0,
  );
  const wait = Math.max(least, Math.min(MOST_MS, failingForMs / 4));
  return wait + (random * Math.min(MOST_JITTERED_MS, wait)) / 4;
}
