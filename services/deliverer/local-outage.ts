export interface LocalOutageDeps {
  /** Milliseconds since some fixed moment. */
  monotonic: () => number;
  /** Sending as a whole stopped, with the code of the fault, or went on. */
  onChange: (change: { isPaused: boolean; code: string }) => void;
}

/** Back-off of an endpoint that cannot be reached from here: 1 s, 2 s, 4 s … 1 min. */
const ENDPOINT_FIRST_MS = 1_000;
const ENDPOINT_MAX_MS = 60_000;
/** Of all sending: 1 s, 2 s, 4 s, 5 s. Short, because it also delays those who could be reached. */
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** Faults in a row, without any attempt that got out, of so many origins: then it is not about some endpoints. */
const FAULTS_UNTIL_PAUSE = 10;
const ORIGINS_UNTIL_PAUSE = 5;
/** Faults of the process as a whole, whatever the endpoint: these need fewer. */
const PROCESS_FAULT_CODES = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|name_servers_away|proxy_away)$/;
const PROCESS_FAULTS_UNTIL_PAUSE = 3;
/**
 * Faults that a customer can bring about at will, by the address or the port that a URL leads to: they say nothing of
 * other endpoints, however many there are, or all deliveries would stand still whenever somebody wants them to.
 */
const ENDPOINT_FAULT_CODES = /^(ipv6_unreachable|proxy_refused|EACCES|EPERM)$/;
const MAX_ENDPOINTS = 20_000;

/**
 * Remembers faults of this side (`local-fault.ts`), so that matches which were given back are not claimed again at
 * once. States:
 *
 * sending ── faults in a row of several origins ──▶ paused ── time is up ──▶ probing (one attempt)
 *      ▲                                                 ▲                        │      │
 *      └──────────── an attempt got out ─────────────────┼────────────────────────┘      │
 *                                                        └──── fault: longer pause ──────┘
 *
 * An endpoint that cannot be reached from here for a reason of its own (OF_THE_ENDPOINT) backs off alone.
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
   * Whether an attempt at this URL may begin. After a pause the first who asks gets a single probe, which must end in
   * `ended`.
   */
  admits(url: string): 'yes' | 'as a probe' | 'no' {
    const now = this.options.monotonic();
    if ((this.endpoints.get(url)?.blockedUntil ?? 0) > now) return 'no';
    if (!this.isPaused) return 'yes';
    if (this.isProbing || this.pausedUntil > now) return 'no';
    this.isProbing = true;
    return 'as a probe';
  }

  /** The probe was not made after all. */
  releaseProbe(): void {
    this.isProbing = false;
  }

  /** An attempt got out, whatever the receiver made of it. */
  attemptSent(url: string): void {
    this.endpoints.delete(url);
    this.origins.clear();
    this.consecutiveFaults = this.processFaults = 0;
    this.isProbing = false;
    if (!this.isPaused) return;
    this.pauseMs = 0;
    this.options.onChange({ isPaused: false, code: '' });
  }

  /** @param isProbe the attempt was admitted as one */
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
    // Attempts that were under way when the pause began do not make it longer.
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
    // Of several attempts that failed together only the first counts.
    if (before && before.blockedUntil > now) return;
    const waitMs = before ? Math.min(before.waitMs * 2, ENDPOINT_MAX_MS) : ENDPOINT_FIRST_MS;
    this.endpoints.delete(url);
    if (this.endpoints.size >= MAX_ENDPOINTS) this.endpoints.delete(this.endpoints.keys().next().value!);
    this.endpoints.set(url, { blockedUntil: now + waitMs, waitMs });
  }
}
