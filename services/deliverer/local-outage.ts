import { LRUCache } from 'lru-cache';

export interface LocalOutageDeps {
  /** Monotonic clock, milliseconds. */
  monotonic: () => number;
  /** All sending was paused, with the code of the fault, or resumed. */
  onChange: (change: { isPaused: boolean; code: string }) => void;
}

/** So long a URL waits after a local fault, and all URLs do after several in a row. */
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
  /** Until when a URL waits. */
  private readonly waiting = new LRUCache<string, number>({ max: 20_000 });
  private faultsInARow = 0;
  private pausedUntil = 0;
  private isPaused = false;

  constructor(options: LocalOutageDeps) {
    this.options = options;
  }

  /** Whether an attempt at this URL may start. */
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

  /** An attempt could not be sent. */
  attemptFailed(url: string, code: string): void {
    const until = this.options.monotonic() + WAIT_MS;
    this.waiting.set(url, until);
    if (ENDPOINT_FAULT_CODES.test(code) || ++this.faultsInARow < FAULTS_UNTIL_PAUSE) return;
    this.pausedUntil = until;
    if (!this.isPaused) this.options.onChange({ isPaused: true, code });
    this.isPaused = true;
  }
}
