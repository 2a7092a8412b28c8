import type { Clock } from '../../shared/runtime/clock.ts';

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
const WINDOW_MS = 60_000;
const MAX_DEATHS = 5;

export type Verdict = { action: 'restart'; afterMs: number } | { action: 'give-up' };

/**
 * Decides when a process that ended is restarted: after 1 s, then after twice as long each time up to 30 s, and after 1
 * s again once it has run for a minute. After five deaths within a minute it gives up.
 */
export class RestartPolicy {
  private readonly clock: Clock;
  private startedAt: number;
  private waitMs = MIN_WAIT_MS;
  private deaths: number[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
    this.startedAt = clock();
  }

  started(): void {
    this.startedAt = this.clock();
  }

  /** `counts` is false for a death with another cause than the process: it is restarted after the shortest wait. */
  died(counts: boolean): Verdict {
    if (!counts) return { action: 'restart', afterMs: MIN_WAIT_MS };
    const now = this.clock();
    if (now - this.startedAt >= WINDOW_MS) this.waitMs = MIN_WAIT_MS;
    this.deaths = [...this.deaths.filter((diedAt) => now - diedAt < WINDOW_MS), now];
    if (this.deaths.length >= MAX_DEATHS) return { action: 'give-up' };
    const afterMs = this.waitMs;
    this.waitMs = Math.min(this.waitMs * 2, MAX_WAIT_MS);
    return { action: 'restart', afterMs };
  }
}
