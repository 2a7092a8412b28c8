export interface LocalOutageDeps {
  /** Monotonic clock, milliseconds. */
  monotonic: () => number;
  /** All sending was paused, with the code of the fault, or resumed. */
  onChange: (change: { isPaused: boolean; code: string }) => void;
}

/** Back-off of an endpoint that cannot be reached from here: 1 s, 2 s, 4 s … 1 min. */
const ENDPOINT_FIRST_MS = 1_000;
const ENDPOINT_MAX_MS = 60_000;
/** Pauses of all sending: 1 s, 2 s, 4 s, 5 s. Short, because a pause also delays endpoints that could be reached. */
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** Consecutive faults, and their distinct origins, after which the fault is not that of single endpoints. */
const FAULTS_UNTIL_PAUSE = 10;
const ORIGINS_UNTIL_PAUSE = 5;
/** Faults of the process, whatever the endpoint. Fewer of them pause all sending. */
const PROCESS_FAULT_CODES = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|name_servers_away|proxy_away)$/;
const PROCESS_FAULTS_UNTIL_PAUSE = 3;
/**
 * Faults that a customer can cause with the address or port of a URL. They never pause other endpoints, however many
 * occur; otherwise a customer could stop all deliveries.
 */
const ENDPOINT_FAULT_CODES = /^(ipv6_unreachable|proxy_refused|EACCES|EPERM)$/;
const MAX_ENDPOINTS = 20_000;

/**
 * Keeps track of local faults (`local-fault.ts`), so that matches which were released because of one are not claimed
 * again at once. States:
 *
 * sending ── consecutive faults of several origins ─▶ paused ── pause ends ──▶ probing (one attempt)
 *      ▲                                                 ▲                        │      │
 *      └──────────── an attempt was sent ────────────────┼────────────────────────┘      │
 *                                                        └──── fault: longer pause ──────┘
 *
 * An endpoint with a fault of its own (ENDPOINT_FAULT_CODES) backs off alone.
 */
export class LocalOutage {
  private readonly options: LocalOutageDeps;
  private readonly endpoints = new Map<string, { blockedUntil: number; waitMs: number }>();
  private readonly origins = new Set<string>();
  private consecutiveFaults = 0;
  private processFaults = 0;
  private pauseMs = 0;
  private pausedUntil = 0;
  private isProbing = false;

  constructor(options: LocalOutageDeps) {
    this.options = options;
  }

  get isPaused(): boolean {
    return this.pauseMs > 0;
  }

  /**
   * Returns whether an attempt at this URL may start. After a pause the first caller gets a single probe, which must
   * end with `attemptSent`, `attemptFailed` or `releaseProbe`.
   */
  admits(url: string): 'yes' | 'probe' | 'no' {
    const now = this.options.monotonic();
    if ((this.endpoints.get(url)?.blockedUntil ?? 0) > now) return 'no';
    if (!this.isPaused) return 'yes';
    if (this.isProbing || this.pausedUntil > now) return 'no';
    this.isProbing = true;
    return 'probe';
  }

  /** The probe was not made; the next caller of `admits` gets it. */
  releaseProbe(): void {
    this.isProbing = false;
  }

  /** An attempt was sent, whatever the receiver answered. */
  attemptSent(url: string): void {
    this.endpoints.delete(url);
    this.origins.clear();
    this.consecutiveFaults = this.processFaults = 0;
    this.isProbing = false;
    if (!this.isPaused) return;
    this.pauseMs = 0;
    this.options.onChange({ isPaused: false, code: '' });
  }

  /** An attempt could not be sent. @param isProbe the attempt was admitted as a probe */
  attemptFailed(endpoint: { url: string; origin: string }, code: string, isProbe: boolean): void {
    this.backOff(endpoint.url);
    if (ENDPOINT_FAULT_CODES.test(code)) {
      if (isProbe) this.releaseProbe();
      return;
    }
    this.consecutiveFaults += 1;
    if (PROCESS_FAULT_CODES.test(code)) this.processFaults += 1;
    if (this.origins.size < ORIGINS_UNTIL_PAUSE) this.origins.add(endpoint.origin);
    const isGeneral =
      this.processFaults >= PROCESS_FAULTS_UNTIL_PAUSE ||
      (this.consecutiveFaults >= FAULTS_UNTIL_PAUSE && this.origins.size >= ORIGINS_UNTIL_PAUSE);
    if (!isGeneral) return;
    const now = this.options.monotonic();
    // Attempts that were in flight when the pause began must not extend it.
    if (this.isPaused && !isProbe) return;
    const begins = !this.isPaused;
    this.pauseMs = begins ? PAUSE_FIRST_MS : Math.min(this.pauseMs * 2, PAUSE_MAX_MS);
    this.pausedUntil = now + this.pauseMs;
    this.isProbing = false;
    if (begins) this.options.onChange({ isPaused: true, code });
  }

  private backOff(url: string): void {
    const now = this.options.monotonic();
    const before = this.endpoints.get(url);
    // Of several attempts that fail together only the first counts.
    if (before && before.blockedUntil > now) return;
    const waitMs = before ? Math.min(before.waitMs * 2, ENDPOINT_MAX_MS) : ENDPOINT_FIRST_MS;
    this.endpoints.delete(url);
    if (this.endpoints.size >= MAX_ENDPOINTS) this.endpoints.delete(this.endpoints.keys().next().value!);
    this.endpoints.set(url, { blockedUntil: now + waitMs, waitMs });
  }
}
