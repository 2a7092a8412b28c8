const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits before the second, third … sixth attempt. A sixth attempt that fails is the last. */
const RETRY_DELAYS_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS] as const;
/** A receiver cannot put a match off for longer than this. */
const LONGEST_RETRY_AFTER_MS = 2 * HOUR_MS;
/** Spreads the retries of an endpoint that broke for many matches at once. */
const JITTER = 0.1;

/** A receiver has this long for a whole attempt: resolving, connecting, TLS and the answer. */
export const WEBHOOK_DEADLINE_MS = 8 * SECOND_MS;

export interface AttemptResult {
  /** Why there was no answer: timeout, dns, tls, connect, blocked_address or local. */
  error: string | null;
  /** The answer's status; 0 without one. */
  status: number;
  retryAfterMs?: number | undefined;
}

export type DeliveryOutcome =
  | { deliveryStatus: 'delivered'; error: null; delayMs: null }
  /** Tried again `delayMs` from now. */
  | { deliveryStatus: 'pending'; error: string; delayMs: number }
  | { deliveryStatus: 'failed'; error: string; delayMs: null };

/**
 * What one attempt makes of a match. Delivered: any 2xx. Worth another attempt: no answer (timeout, name, TLS,
 * connection), 429 and 5xx. Final: a redirect, any other answer, and an address that must not be connected to.
 *
 * @param retryStep attempts made before this one since the match was queued; from 5 on the match fails instead of
 * waiting
 * @param random 0 ≤ random < 1, for the jitter, which is only ever added
 */
export function decideOutcome(result: AttemptResult, retryStep: number, random: number): DeliveryOutcome {
  const { status } = result;
  if (result.error === null && status >= 200 && status < 300) {
    return { deliveryStatus: 'delivered', error: null, delayMs: null };
  }
  const error = result.error ?? (status >= 300 && status < 400 ? 'redirect' : 'http_status');
  const step = RETRY_DELAYS_MS[retryStep];
  if (step === undefined || !isWorthAnother(result)) return { deliveryStatus: 'failed', error, delayMs: null };
  const asked = Math.min(result.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  const delayMs = Math.max(Math.round(step * (1 + JITTER * random)), asked);
  return { deliveryStatus: 'pending', error, delayMs };
}

function isWorthAnother(result: AttemptResult): boolean {
  if (result.error !== null) return result.error !== 'blocked_address';
  return result.status === 429 || result.status >= 500;
}
