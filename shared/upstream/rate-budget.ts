/**
 * Who calls, in the order of precedence. Each lane leaves alone the part of a window that belongs to the lanes before it:
 * readers may use everything, the live crawl leaves them a tenth, catching up also leaves the live crawl room, and
 * rechecks come last.
 */
export type Lane = 'reading' | 'live' | 'catch-up' | 'recheck';

const LEFT_ALONE: Record<Lane, number> = { reading: 0, live: 0.1, 'catch-up': 0.3, recheck: 0.5 };

/** How long to wait where a window is used up but the forum has not said when the next one begins. */
const UNKNOWN_WAIT_MS = 1000;

/**
 * What one client may still ask in the current window, as the forum's own headers say: nothing is assumed before the first
 * answer, and constants never override a header. Times are milliseconds since 1970.
 */
export class RateBudget {
  private limit: number | undefined;
  private left = Number.POSITIVE_INFINITY;
  private resetAt = Number.POSITIVE_INFINITY;
  private blockedUntil = 0;
  private inFlight = 0;

  /** Calls left in this window; Infinity before the first answer. */
  remaining(now: number): number {
    this.turnWindow(now);
    return Math.max(0, this.left);
  }

  /** Takes one call; false when this lane must wait. Every call taken is given to `settle` once. */
  take(lane: Lane, now: number): boolean {
    if (this.waitMs(lane, now) > 0) return false;
    this.left -= 1;
    this.inFlight += 1;
    return true;
  }

  /** Ends a call taken. Header values are as received: `remaining` and `used` are decimal fractions, `reset` is in seconds. */
  settle(headers: { remaining?: string; used?: string; reset?: string }, now: number): void {
    this.inFlight -= 1;
    const remaining = parse(headers.remaining);
    const reset = parse(headers.reset);
    if (remaining === undefined || reset === undefined) return;
    const used = parse(headers.used);
    if (used !== undefined) this.limit = remaining + used;
    else this.limit = Math.max(this.limit ?? 0, remaining);
    this.left = remaining - this.inFlight;
    this.resetAt = now + reset * 1000;
  }

  /** The forum asked for a pause. */
  block(until: number): void {
    this.blockedUntil = Math.max(this.blockedUntil, until);
  }

  /** Milliseconds until this lane may call; 0: now. */
  waitMs(lane: Lane, now: number): number {
    this.turnWindow(now);
    if (this.blockedUntil > now) return this.blockedUntil - now;
    if (this.left - 1 >= (this.limit ?? 0) * LEFT_ALONE[lane]) return 0;
    return Number.isFinite(this.resetAt) ? Math.max(1, this.resetAt - now) : UNKNOWN_WAIT_MS;
  }

  /** Calls a second that this lane can keep up until the window ends: Infinity while nothing is known, 0 when it must wait. */
  perSecond(lane: Lane, now: number): number {
    this.turnWindow(now);
    if (this.blockedUntil > now) return 0;
    if (this.limit === undefined || !Number.isFinite(this.resetAt)) return Number.POSITIVE_INFINITY;
    const usable = this.left - this.limit * LEFT_ALONE[lane];
    if (usable < 1) return 0;
    return usable / Math.max(1, (this.resetAt - now) / 1000);
  }

  private turnWindow(now: number): void {
    if (now < this.resetAt) return;
    this.left = (this.limit ?? Number.POSITIVE_INFINITY) - this.inFlight;
    this.resetAt = Number.POSITIVE_INFINITY;
  }
}

function parse(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const value = Number(header);
  return Number.isFinite(value) ? value : undefined;
}
