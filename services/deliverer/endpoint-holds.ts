import { LRUCache } from 'lru-cache';
import { MAX_RETRY_AFTER_MS } from '../../shared/deliveries/rules/delivery-outcome.ts';

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
/** A receiver that took nothing for this long is held no longer, so that its matches use up their retries and end. */
const LONGEST_REFUSAL_MS = MAX_RETRY_AFTER_MS;
/** Longer than the longest delay before a retry, so that a receiver that refuses forever is recognised at the next. */
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

  answered(url: string, { status, retryAfterMs }: ReceiverAnswer): void {
    const hold = this.holds.get(url);
    if (status >= 200 && status < 300 && hold) hold.refusedSince = undefined;
    if ((status !== 429 && status !== 503) || retryAfterMs === undefined) return;
    const now = this.monotonic();
    const refusedSince = hold?.refusedSince ?? now;
    const waitMs = now - refusedSince >= LONGEST_REFUSAL_MS ? 0 : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    // The longest pause counts where several attempts are refused together.
    this.holds.set(url, { until: Math.max(hold?.until ?? now, now + waitMs), refusedSince });
  }
}

export interface LocalOutageDeps {
  monotonic: () => number;
  /** All sending was paused, with the code of the fault, or resumed. */
  onChange: (change: { isPaused: boolean; code: string }) => void;
}

/** How long a URL waits after a local fault, and all URLs after several in a row. */
const WAIT_MS = 3_000;
const FAULTS_UNTIL_PAUSE = 10;
/** Faults that a customer can cause with the address or port of a URL. They never delay other endpoints. */
const ENDPOINT_FAULT_CODES = /^(ipv6_unreachable|proxy_refused|EACCES|EPERM)$/;

/**
 * Keeps track of local faults (`local-fault.ts`), so that matches which were released because of one are not claimed
 * again at once. All sending is paused, for moments at a time, from the tenth fault in a row until an attempt is sent.
 */
export class LocalOutage {
  private readonly options: LocalOutageDeps;
  private readonly waiting = new LRUCache<string, number>({ max: 20_000 });
  private faultsInARow = 0;
  private pausedUntil = 0;
  private isPaused = false;

  constructor(options: LocalOutageDeps) {
    this.options = options;
  }

  admits(url: string): boolean {
    const now = this.options.monotonic();
    return now >= this.pausedUntil && now >= (this.waiting.get(url) ?? 0);
  }

  /** An attempt was sent, whatever the receiver answered. */
  attemptSent(url: string): void {
    this.waiting.delete(url);
    this.faultsInARow = this.pausedUntil = 0;
    if (this.isPaused) this.options.onChange({ isPaused: false, code: '' });
    this.isPaused = false;
  }

  attemptFailed(url: string, code: string): void {
    const until = this.options.monotonic() + WAIT_MS;
    this.waiting.set(url, until);
    if (ENDPOINT_FAULT_CODES.test(code) || ++this.faultsInARow < FAULTS_UNTIL_PAUSE) return;
    this.pausedUntil = until;
    if (!this.isPaused) this.options.onChange({ isPaused: true, code });
    this.isPaused = true;
  }
}
