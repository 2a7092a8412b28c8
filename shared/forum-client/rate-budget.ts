/** Interval of the calls that test a window whose headers contradict themselves. */
const PROBE_MS = 30_000;
/**
 * Windows whose ends differ by less are the same window: the header counts whole seconds, and a report is up to two
 * slow exchanges older than it says.
 */
const SAME_WINDOW_MS = 10_000;
/**
 * The forum's windows are ten minutes. A header beyond this limit is broken, and one broken header must not stop all
 * calls for years.
 */
const MAX_WINDOW_MS = 3_600_000;

/**
 * What a process knows of a client's window, reported to the others that use the client. Times are milliseconds from
 * now.
 */
export interface WindowReport {
  limit: number;
  left: number;
  endsInMs: number;
  /** Remaining pause that the forum asked for; 0: none. */
  blockedForMs: number;
}

/**
 * The calls left to one client in the current window, as the forum's own headers say. Nothing is assumed before the
 * first response, and no constant overrides a header. Times are milliseconds since 1970.
 */
export class RateBudget {
  private limit: number | undefined;
  private left = Number.POSITIVE_INFINITY;
  private endsAt = Number.POSITIVE_INFINITY;
  /** The longest window seen. A new window is assumed to be as long until the forum says otherwise. */
  private windowMs = 0;
  private blockedUntil = 0;
  private inFlight = 0;
  /** Whether the forum sent the headers of this window, to this process or another one. */
  private isKnown = false;
  /** Whether the last headers said that nothing is left of a window of which nothing was used. */
  private isDoubtful = false;
  private probedAt = Number.NEGATIVE_INFINITY;
  /** End of the last window, which a late report may still describe. */
  private lastEndedAt = Number.NEGATIVE_INFINITY;
  /** Whether a window has ended, and with it whether `windowMs` is the length of a whole window. */
  private hasEndedWindow = false;
  private hasWholeWindow = false;

  /** Whether the forum has never sent its headers, neither to this process nor to another one. */
  get isUnseen(): boolean {
    return this.limit === undefined;
  }

  /** Calls taken and not settled yet. */
  get callsInFlight(): number {
    return this.inFlight;
  }

  /** Calls left in this window; Infinity before the first response. */
  remaining(now: number): number {
    this.rollWindow(now);
    return Math.max(0, this.left);
  }

  /** Takes one call; false when there is none. Pass every call taken to `settle` exactly once. */
  take(now: number): boolean {
    if (this.waitMs(now) > 0) return false;
    if (this.left < 1) this.probedAt = now;
    this.left -= 1;
    this.inFlight += 1;
    return true;
  }

  /**
   * Settles a call that was taken. Header values are as received: `remaining` and `used` are decimal fractions, `reset`
   * is in seconds.
   */
  settle(headers: { remaining?: string; used?: string; reset?: string }, now: number): void {
    this.inFlight -= 1;
    const remaining = parse(headers.remaining);
    const reset = parse(headers.reset);
    if (remaining === undefined || reset === undefined || reset < 0 || reset * 1000 > MAX_WINDOW_MS) return;
    const used = parse(headers.used);
    this.left = remaining - this.inFlight;
    this.endsAt = now + reset * 1000;
    this.windowMs = Math.max(this.windowMs, reset * 1000);
    this.isDoubtful = remaining < 1 && used !== undefined && used < 1;
    this.isKnown = !this.isDoubtful;
    if (this.isDoubtful) {
      this.probedAt = now;
      return;
    }
    this.limit = used === undefined ? Math.max(this.limit ?? 0, remaining) : remaining + used;
    this.hasWholeWindow ||= this.hasEndedWindow;
  }

  /** Blocks the client until the end of a pause that the forum asked for. */
  block(until: number): void {
    this.blockedUntil = Math.max(this.blockedUntil, until);
  }

  /** The report for other processes; undefined while the forum has not sent the headers of this window. */
  report(now: number): WindowReport | undefined {
    this.rollWindow(now);
    if (!this.isKnown || this.limit === undefined) return undefined;
    const blockedForMs = Math.max(0, this.blockedUntil - now);
    return { limit: this.limit, left: this.remaining(now), endsInMs: this.endsAt - now, blockedForMs };
  }

  /**
   * Merges a report that is `ageMs` old. Within one window the lower number is the newer one. A later window replaces
   * an earlier one.
   */
  learn({ limit, left, endsInMs, blockedForMs }: WindowReport, ageMs: number, now: number): void {
    this.rollWindow(now);
    this.block(now + blockedForMs - ageMs);
    const endsAt = now + endsInMs - ageMs;
    if (endsAt <= now || endsInMs > MAX_WINDOW_MS || limit < 1) return;
    if (Math.abs(endsAt - this.lastEndedAt) < SAME_WINDOW_MS) return;
    if (this.isKnown && Math.abs(endsAt - this.endsAt) < SAME_WINDOW_MS) {
      this.left = Math.min(this.left, left);
    } else if (!this.isKnown || endsAt > this.endsAt) {
      this.limit = limit;
      this.left = left - this.inFlight;
      this.endsAt = endsAt;
      this.windowMs = Math.max(this.windowMs, endsInMs);
      this.isKnown = true;
      this.isDoubtful = false;
    }
  }

  /** Milliseconds until a call may be made; 0: now. */
  waitMs(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return this.blockedUntil - now;
    if (this.left >= 1) return 0;
    const untilNextMs = Math.max(1, this.endsAt - now);
    return this.mayProbe() ? Math.min(untilNextMs, Math.max(0, this.probedAt + PROBE_MS - now)) : untilNextMs;
  }

  /**
   * Calls a second that can be sustained until the window ends; Infinity while nothing is known, 0 when none may be
   * made.
   */
  perSecond(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return 0;
    if (this.left < 1 && this.mayProbe()) return 1000 / PROBE_MS;
    if (this.limit === undefined || !Number.isFinite(this.endsAt)) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.left) / Math.max(1, (this.endsAt - now) / 1000);
  }

  /** Calls a second that a whole window allows; undefined until one was seen from its beginning. */
  allowedPerSecond(): number | undefined {
    if (!this.hasWholeWindow || this.limit === undefined || this.windowMs === 0) return undefined;
    return (this.limit * 1000) / this.windowMs;
  }

  /**
   * A window that is used up makes no call until its end. But wrong headers, or a window of unknown end, must not stop
   * all calls: a call now and then lets the forum correct them. At worst it is answered by 429.
   */
  private mayProbe(): boolean {
    return this.isDoubtful || !Number.isFinite(this.endsAt);
  }

  private rollWindow(now: number): void {
    if (now < this.endsAt) return;
    this.lastEndedAt = Math.max(this.lastEndedAt, this.endsAt);
    // At least one call, whose headers correct a wrong limit.
    this.left = Math.max(1, (this.limit ?? Number.POSITIVE_INFINITY) - this.inFlight);
    this.endsAt = Math.max(now, this.endsAt) + (this.windowMs || Number.POSITIVE_INFINITY);
    this.isKnown = false;
    this.isDoubtful = false;
    this.hasEndedWindow = true;
  }
}

function parse(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const value = Number(header);
  return Number.isFinite(value) ? value : undefined;
}
