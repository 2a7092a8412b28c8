import { UpstreamError } from '../../shared/upstream/upstream-error.ts';

const MIN_MS = 250;
const MAX_MS = 30_000;
const MAX_JITTERED_MS = 8_000;
/** While the forum refuses us, frequent retries cannot succeed and may prolong the block. */
const REFUSED_MIN_MS = 5_000;

/**
 * Returns the milliseconds to wait after a failure: a quarter of the time that the outage has lasted, at most 30 s. So
 * recovery is noticed after at most 1.25 times the length of the outage. The forum's Retry-After is a lower bound.
 * Jitter of up to a quarter, at most 2 s, is added and never subtracted. `random` is in [0, 1).
 */
export function backOffMs(error: unknown, failingForMs: number, random: number): number {
  const isRefused = error instanceof UpstreamError && error.failure === 'refused';
  const minimum = Math.max(
    isRefused ? REFUSED_MIN_MS : MIN_MS,
    error instanceof UpstreamError ? (error.retryAfterMs ?? 0) : 0,
  );
  const wait = Math.max(minimum, Math.min(MAX_MS, failingForMs / 4));
  return wait + (random * Math.min(MAX_JITTERED_MS, wait)) / 4;
}
