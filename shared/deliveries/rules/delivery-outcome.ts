const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Delays before the second to the sixth attempt. The sixth attempt is the last. */
const RETRY_DELAYS_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS] as const;
/** A Retry-After of a receiver cannot delay a match, nor hold back its URL, for longer than this. */
export const MAX_RETRY_AFTER_MS = 2 * HOUR_MS;
/** Spreads the retries of an endpoint that failed for many matches at once. */
const JITTER = 0.1;

/** Time for a whole attempt: name resolution, connection, TLS and the answer. */
export const WEBHOOK_DEADLINE_MS = 8 * SECOND_MS;

export interface AttemptResult<E extends string = string> {
  /** Why there was no answer: timeout, dns, tls, connect, blocked_address or local. */
  error: E | null;
  status: number;
  retryAfterMs?: number | undefined;
}

export type DeliveryOutcome<E extends string = string> =
  | { deliveryStatus: 'delivered'; error: null; delayMs: null }
  /** The next attempt is due in `delayMs`. */
  | { deliveryStatus: 'pending'; error: E; delayMs: number }
  | { deliveryStatus: 'failed'; error: E; delayMs: null };

/**
 * Decides the delivery state of a match after an attempt. Delivered: any 2xx. Retried: no answer (timeout, name
 * resolution, TLS, connection), 429 and 5xx. Failed: a redirect, any other answer, and a blocked address.
 *
 * @param retryStep attempts made before this one since the match was queued; from 5 on there is no retry
 * @param random 0 ≤ random < 1, for the jitter, which only lengthens the delay
 */
export function decideOutcome<E extends string>(
  result: AttemptResult<E>,
  retryStep: number,
  random: number,
): DeliveryOutcome<E | 'redirect' | 'http_status'> {
  const { status } = result;
  if (result.error === null && status >= 200 && status < 300) {
    return { deliveryStatus: 'delivered', error: null, delayMs: null };
  }
  const error = result.error ?? (status >= 300 && status < 400 ? 'redirect' : 'http_status');
  const step = RETRY_DELAYS_MS[retryStep];
  if (step === undefined || !isRetryable(result)) return { deliveryStatus: 'failed', error, delayMs: null };
  const asked = Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  const delayMs = Math.max(Math.round(step * (1 + JITTER * random)), asked);
  return { deliveryStatus: 'pending', error, delayMs };
}

function isRetryable(result: AttemptResult): boolean {
  if (result.error !== null) return result.error !== 'blocked_address';
  return result.status === 429 || result.status >= 500;
}
