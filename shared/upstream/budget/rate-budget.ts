/** How long to wait where a window is used up but the forum has not said when the next one begins. */
const UNKNOWN_WAIT_MS = 1000;
/** Ends of windows that differ by less are the same one: the header counts whole seconds. */
const SAME_WINDOW_MS = 5_000;
/**
 * The forum's windows are ten minutes; a header beyond this is broken, and one broken header must not end all calls for
 * years.
 */
const MAX_WINDOW_MS = 3_600_000;

/** What a process knows of a client's window, for the others that use the client. Times are milliseconds from now. */
export interface WindowReport {
  limit: number;
  left: number;
  endsInMs: number;
  /** The forum's pause; 0: none. */
  blockedForMs: number;
}

/**
 * What one client may still ask in the current window, as the forum's own headers say: nothing is assumed before the
 * first answer, and constants never override a header. Times are milliseconds since 1970.
 */
export class RateBudget {
  private limit: number | undefined;
  private left = Number.POSITIVE_INFINITY;
  private endsAt = Number.POSITIVE_INFINITY;
  /** The longest that was seen; a window that turned is taken for as long until the forum says otherwise. */
  private windowMs = 0;
  private blockedUntil = 0;
  private inFlight = 0;
  /** Whether the forum spoke of this window, to this process or another one. */
  private isKnown = false;

  /** Calls left in this window; Infinity before the first answer. */
  remaining(now: number): number {
    this.rollWindow(now);
    return Math.max(0, this.left);
  }

  /** Takes one call; false when there is none. Every call taken is given to `settle` once. */
  take(now: number): boolean {
    if (this.waitMs(now) > 0) return false;
    this.left -= 1;
    this.inFlight += 1;
    return true;
  }

  /**
   * Ends a call taken. Header values are as received: `remaining` and `used` are decimal fractions, `reset` is in
   * seconds.
   */
  settle(headers: { remaining?: string; used?: string; reset?: string }, now: number): void {
    this.inFlight -= 1;
    const remaining = parse(headers.remaining);
    const reset = parse(headers.reset);
    if (remaining === undefined || reset === undefined || reset < 0 || reset * 1000 > MAX_WINDOW_MS) return;
    const used = parse(headers.used);
    if (used !== undefined) this.limit = remaining + used;
    else this.limit = Math.max(this.limit ?? 0, remaining);
    this.left = remaining - this.inFlight;
    this.endsAt = now + reset * 1000;
    this.windowMs = Math.max(this.windowMs, reset * 1000);
    this.isKnown = true;
  }

  /** The forum asked for a pause. */
  block(until: number): void {
    this.blockedUntil = Math.max(this.blockedUntil, until);
  }

  /** What other processes should know; undefined while the forum has not spoken of this window. */
  report(now: number): WindowReport | undefined {
    this.rollWindow(now);
    if (!this.isKnown || this.limit === undefined) return undefined;
    const blockedForMs = Math.max(0, this.blockedUntil - now);
    return { limit: this.limit, left: this.remaining(now), endsInMs: this.endsAt - now, blockedForMs };
  }

  /**
   * What another process knew `ageMs` ago. Of one window the lower number is the newer one; a later window replaces an
   * earlier.
   */
  learn({ limit, left, endsInMs, blockedForMs }: WindowReport, ageMs: number, now: number): void {
    this.rollWindow(now);
    this.block(now + blockedForMs - ageMs);
    const endsAt = now + endsInMs - ageMs;
    if (endsAt <= now || endsInMs > MAX_WINDOW_MS) return;
    if (this.isKnown && Math.abs(endsAt - this.endsAt) < SAME_WINDOW_MS) {
      this.left = Math.min(this.left, left);
    } else if (!this.isKnown || endsAt > this.endsAt) {
      this.limit = limit;
      this.left = left - this.inFlight;
      this.endsAt = endsAt;
      this.windowMs = Math.max(this.windowMs, endsInMs);
      this.isKnown = true;
    }
  }

  /** Milliseconds until a call may be made; 0: now. */
  waitMs(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return this.blockedUntil - now;
    if (this.left >= 1) return 0;
    return Number.isFinite(this.endsAt) ? Math.max(1, this.endsAt - now) : UNKNOWN_WAIT_MS;
  }

  /**
   * Calls a second that can be kept up until the window ends: Infinity while nothing is known, 0 when none may be made.
   */
  perSecond(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return 0;
    if (this.limit === undefined || !Number.isFinite(this.endsAt)) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.left) / Math.max(1, (this.endsAt - now) / 1000);
  }

  private rollWindow(now: number): void {
    if (now < this.endsAt) return;
    this.left = (this.limit ?? Number.POSITIVE_INFINITY) - this.inFlight;
    this.endsAt = Math.max(now, this.endsAt) + (this.windowMs || Number.POSITIVE_INFINITY);
    this.isKnown = false;
  }
}

function parse(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const value = Number(header);
  return Number.isFinite(value) ? value : undefined;
}
