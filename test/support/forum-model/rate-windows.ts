const CALLS_PER_WINDOW = 1_000;
const WINDOW_MS = 600_000;

/** As the forum sends them: `remaining` is a decimal fraction, `reset` whole seconds. */
export interface RateHeaders {
  remaining?: string;
  used?: string;
  reset?: string;
}

/** Each client has a thousand calls in ten minutes, counted from its first call. Times are milliseconds. */
export class RateWindows {
  private readonly usage: { startedAt: number; used: number }[];

  constructor(clients: number) {
    this.usage = Array.from({ length: clients }, () => ({ startedAt: -Infinity, used: 0 }));
  }

  /** Counts one call. */
  admit(client: number, now: number): { headers: RateHeaders; isOver: boolean; resetMs: number } {
    const usage = this.usage[client]!;
    if (now >= usage.startedAt + WINDOW_MS) {
      usage.startedAt = now;
      usage.used = 0;
    }
    const isOver = usage.used >= CALLS_PER_WINDOW;
    if (!isOver) usage.used += 1;
    const resetMs = usage.startedAt + WINDOW_MS - now;
    const headers = {
      remaining: (CALLS_PER_WINDOW - usage.used).toFixed(1),
      used: String(usage.used),
      reset: String(Math.ceil(resetMs / 1000)),
    };
    return { headers, isOver, resetMs };
  }
}
