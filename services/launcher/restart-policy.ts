import type { Clock } from '../../shared/runtime/clock.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const WINDOW_MS = 60_000;
const DEATHS_IN_WINDOW = 5;

export type Verdict = { action: 'restart'; afterMs: number } | { action: 'give-up' };

/**
 * When one process that died is started again: after 1 s, doubling to 30 s while it keeps dying, from 1 s anew once it
 * lived for a minute. Five deaths within a minute: not at all, since waiting longer has not helped.
 */
export class RestartPolicy {
  private readonly clock: Clock;
  private startedAt: number;
  private waitMs = FIRST_WAIT_MS;
  private deaths: number[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
    this.startedAt = clock();
  }

  started(): void {
    this.startedAt = this.clock();
  }

  /** A death that is somebody else's fault does not count: the process is started again after the shortest wait. */
  died(counts: boolean): Verdict {
    if (!counts) return { action: 'restart', afterMs: FIRST_WAIT_MS };
    const now = this.clock();
    if (now - this.startedAt >= WINDOW_MS) this.waitMs = FIRST_WAIT_MS;
    this.deaths = [...this.deaths.filter((at) => now - at < WINDOW_MS), now];
    if (this.deaths.length >= DEATHS_IN_WINDOW) return { action: 'give-up' };
    return this.diedExcused();
  }

  /** A death of something that passes, however long it takes: waits grow, but it is never given up. */
  diedExcused(): { action: 'restart'; afterMs: number } {
    const afterMs = this.waitMs;
    this.waitMs = Math.min(this.waitMs * 2, LONGEST_WAIT_MS);
    return { action: 'restart', afterMs };
  }
}
