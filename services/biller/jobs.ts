import { randomUUID } from 'node:crypto';
import { unavailableEngine } from '../../shared/runtime/outage-log.ts';
import { OutageLog } from '../../shared/runtime/outage-log.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { releaseLease, takeLease } from '../../shared/maintenance/leases.ts';

const LEASE_SECONDS = 25;
const RENEW_AFTER_MS = 10_000;
/** How often a process asks for the lease of a job that another one has: it takes over within 30 s of a kill. */
const POLL_MS = 5_000;
/** Wait after a run in which an engine was unavailable. */
const RETRY_MS = 1_000;

export interface Continuing {
  /** Asked before each statement that changes many rows: false when the process stops or lost the lease. */
  mayContinue: () => Promise<boolean>;
}

/** A run may be repeated or interrupted anywhere; two may overlap where a statement takes long. */
export interface Job {
  everyMs: number;
  /** Name of its lease: one process at a time does it. Without: every process. */
  lease?: string;
  /** After a run no process starts another until the next is due, for at most this long. */
  restSeconds?: number;
  /** @returns milliseconds until the next run, if it is not `everyMs`; false when this one was not finished */
  run(mayContinue: Continuing['mayContinue']): Promise<unknown>;
  /** Another process does it. */
  elsewhere?: () => void;
}

export interface JobDeps {
  pool: Pool;
  logger: Logger;
  metrics?: Metrics;
  signal: AbortSignal;
  fatal: (error: Error) => void;
}

/** Repeats a job. Resolves when the signal has aborted and the current run has ended, or after `fatal`. */
export async function runJob(deps: JobDeps, work: string, job: Job): Promise<void> {
  const { pool, signal, fatal, metrics } = deps;
  const lease = job.lease === undefined ? undefined : new Lease(pool, job.lease, job.restSeconds);
  const mayContinue = async () => !signal.aborted && (lease === undefined || (await lease.mayContinue()));
  const outage = new OutageLog({ ...deps, work });
  while (!signal.aborted) {
    let waitMs = RETRY_MS;
    const endTimer = metrics?.jobSeconds.startTimer({ work });
    try {
      waitMs = await runOnce(job, lease, mayContinue);
      endTimer?.();
      outage.recovered();
    } catch (error) {
      if (unavailableEngine(error) === undefined) {
        fatal(error as Error);
        return;
      }
      outage.failed(error);
    }
    await delay(waitMs, signal);
  }
  // A lease that cannot be released ends by itself.
  await lease?.release().catch((error: unknown) => {
    if (!isPostgresUnavailable(error)) throw error;
  });
}

async function runOnce(job: Job, lease: Lease | undefined, mayContinue: () => Promise<boolean>): Promise<number> {
  const { everyMs, restSeconds } = job;
  if (!(await mayContinue())) {
    job.elsewhere?.();
    return lease?.isResting() ? everyMs : Math.min(everyMs, POLL_MS);
  }
  const result = await job.run(mayContinue);
  const nextMs = typeof result === 'number' ? result : everyMs;
  if (restSeconds !== undefined && result !== false) await lease?.rest(nextMs / 1_000);
  else if (nextMs > POLL_MS * 3) await lease?.release();
  return Math.min(nextMs, everyMs);
}

/** A lease in Postgres that lets one process at a time do a job. It ends by itself 25 s after the last renewal. */
export class Lease {
  private readonly pool: Pool;
  private readonly name: string;
  private readonly longestSeconds: number;
  private holder = randomUUID();
  private takenAt = Number.NEGATIVE_INFINITY;
  private restsUntil = Number.NEGATIVE_INFINITY;

  /** @param longestSeconds the longest that it is kept taken, by `rest` */
  constructor(pool: Pool, name: string, longestSeconds = LEASE_SECONDS) {
    this.pool = pool;
    this.name = name;
    this.longestSeconds = longestSeconds;
  }

  /** Takes or renews the lease; returns whether this process holds it. */
  async mayContinue(): Promise<boolean> {
    const now = performance.now();
    if (this.isResting()) return false;
    if (now - this.takenAt < RENEW_AFTER_MS) return true;
    if (!(await this.take(LEASE_SECONDS))) return false;
    this.takenAt = now;
    return true;
  }

  /** Keeps the lease taken for the given seconds: no process gets it before, not even this one. */
  async rest(seconds: number): Promise<void> {
    if (seconds > this.longestSeconds) throw new RangeError(`${this.name}: kept taken for longer than declared`);
    if (await this.take(seconds)) this.restsUntil = performance.now() + seconds * 1_000;
    this.forget();
  }

  isResting(): boolean {
    return performance.now() < this.restsUntil;
  }

  async release(): Promise<void> {
    await releaseLease(this.pool, { name: this.name, holder: this.holder });
    this.forget();
  }

  private forget(): void {
    this.holder = randomUUID();
    this.takenAt = Number.NEGATIVE_INFINITY;
  }

  private take(seconds: number): Promise<boolean> {
    const { name, holder, longestSeconds } = this;
    return takeLease(this.pool, { name, holder, seconds, longestSeconds });
  }
}
