import { LRUCache } from 'lru-cache';
import { MAX_RETRY_AFTER_MS } from '../../shared/domain/webhooks/delivery-outcome.ts';

/** What a receiver answered, as far as it tells when it takes the next delivery. */
export interface ReceiverAnswer {
  status: number;
  retryAfterMs?: number | undefined;
}

interface Hold {
  until: number;
  /** The first refusal since the receiver last took a delivery; undefined when it took one since. */
  refusedSince: number | undefined;
}

/** After a hold one attempt at a time is made, and one more at a time for each minute without a refusal. */
const ONE_MORE_AFTER_MS = 60_000;
/** A receiver that took nothing for so long is not held any more, so that its matches use up their retries and end. */
const LONGEST_REFUSAL_MS = MAX_RETRY_AFTER_MS;
/** Longer than the longest delay before a retry, so that a receiver that refuses for ever is recognised at the next. */
const FORGOTTEN_AFTER_MS = 3 * 3_600_000;

/**
 * Holds back a webhook URL whose receiver asked for a pause: 429 or 503 with Retry-After. Without it each pending match
 * would learn of the pause by an attempt of its own, and a receiver that takes 30 a minute would use up the retries of
 * a thousand matches. Keyed by URL, so that no other receiver of the same origin waits.
 *
 * taking ── refusal ─▶ held ── Retry-After ends ──▶ one at a time ── a minute ─▶ two ── … ─▶ taking
 *                        ▲                                │
 *                        └─────────── refusal ────────────┘
 *
 * In memory of one process: each process learns of a pause by attempts of its own.
 */
export class EndpointHolds {
  private readonly monotonic: () => number;
  private readonly holds = new LRUCache<string, Hold>({ max: 20_000 });

  /** @param monotonic milliseconds */
  constructor(monotonic: () => number) {
    this.monotonic = monotonic;
  }

  isHeld(url: string): boolean {
    return this.room(url) === 0;
  }

  /** How many attempts may be in flight at the URL: none while it is held, any number where no pause is known. */
  room(url: string): number {
    const hold = this.holds.get(url);
    if (!hold) return Number.POSITIVE_INFINITY;
    const sinceMs = this.monotonic() - hold.until;
    if (sinceMs < 0) return 0;
    if (sinceMs >= FORGOTTEN_AFTER_MS) this.holds.delete(url);
    return 1 + Math.floor(sinceMs / ONE_MORE_AFTER_MS);
  }

  /** Notes the answer to an attempt. */
  answered(url: string, { status, retryAfterMs }: ReceiverAnswer): void {
    const hold = this.holds.get(url);
    if (status >= 200 && status < 300 && hold) hold.refusedSince = undefined;
    if ((status !== 429 && status !== 503) || retryAfterMs === undefined) return;
    const now = this.monotonic();
    const refusedSince = hold?.refusedSince ?? now;
    const waitMs = now - refusedSince >= LONGEST_REFUSAL_MS ? 0 : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    // Of several attempts that are refused together the longest pause counts.
    this.holds.set(url, { until: Math.max(hold?.until ?? now, now + waitMs), refusedSince });
  }
}
