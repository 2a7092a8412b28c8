import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { readCursor, saveCursor } from '../../shared/stores/crawl-cursors.ts';
import { releaseLease, takeLease } from '../../shared/stores/leases.ts';
import { UpstreamError } from '../../shared/upstream/upstream-error.ts';
import { backOffMs } from './back-off.ts';
import type { CrawlSource } from './crawl-source.ts';
import type { ItemPublisher } from './item-publisher.ts';

/**
 * After kill -9 nobody crawls for so long. It must stay far below the time in which a busy listing turns over (1,000 items);
 * two crawlers at once, where a database was slow for longer, are harmless.
 */
const LEASE_SECONDS = 4;
const RENEW_MS = 1_000;
/** How often a process that stands by looks whether the lease is free. */
const STANDBY_MS = 500;
/** A crash repeats what was published since the last checkpoint; the items' keys make that harmless. */
const CHECKPOINT_MS = 2_000;
/** Failures are logged when they begin and then at this pace. */
const FAILURE_LOG_MS = 30_000;

export interface RunnerDeps {
  db: Queryable;
  /** Names this process in leases. */
  holder: string;
  items: ItemPublisher;
  logger: Logger;
  clock: Clock;
  random: () => number;
}

/**
 * Drives one source for as long as this process holds its lease:
 *
 *   standby ──lease──▶ begin(cursor) ──▶ round ─▶ publish ─▶ acknowledged ─▶ checkpoint ─┐
 *      ▲                                  ▲                                              │
 *      └────────── lease lost ────────────┴──────────── pause, or back-off ◀─────────────┘
 *
 * A crash before "acknowledged" repeats the round, one before "checkpoint" everything since the last checkpoint.
 */
export class SourceRunner {
  private readonly source: CrawlSource;
  private readonly deps: RunnerDeps;
  private readonly logger: Logger;
  private leaseUntil = 0;
  private renewAt = 0;
  private savedAt = 0;
  private unsaved = false;
  private failingSince: number | undefined;
  private failureLoggedAt = 0;
  private settled = false;

  constructor(source: CrawlSource, deps: RunnerDeps) {
    this.source = source;
    this.deps = deps;
    this.logger = deps.logger.child({ source: source.name });
  }

  /**
   * True once this source has brought its first round, or another process holds its lease. It stays true in an upstream
   * outage, which metrics and logs tell: it must not take the rest of the service out of rotation.
   */
  ready(): boolean {
    return this.settled;
  }

  /** Runs until the signal aborts or the source is done. Throws only what nobody expected. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await this.guarded(signal, () => this.standBy(signal));
      if (step !== 'held') continue;
      const end = await this.drive(signal);
      await this.letGo();
      if (end === 'done') return;
    }
  }

  /** Waits for the lease, and begins where the last holder stopped. */
  private async standBy(signal: AbortSignal): Promise<'held' | 'elsewhere'> {
    if (!(await this.renew())) {
      this.settled = true;
      await delay(STANDBY_MS, signal);
      return 'elsewhere';
    }
    await this.source.begin(await readCursor(this.deps.db, this.source.name));
    this.savedAt = this.deps.clock();
    return 'held';
  }

  private async drive(signal: AbortSignal): Promise<'done' | 'lost' | 'stopped'> {
    while (!signal.aborted) {
      const step = await this.guarded(signal, () => this.turn(signal));
      if (step === 'done' || step === 'lost') return step;
    }
    return 'stopped';
  }

  private async turn(signal: AbortSignal): Promise<'done' | 'lost' | 'more'> {
    if (!(await this.renewWhenDue())) return 'lost';
    const round = await this.source.round(signal);
    await this.deps.items.publish(round, this.source, signal);
    await round.acknowledged();
    this.unsaved = true;
    this.recovered();
    if (round.done || this.deps.clock() - this.savedAt >= CHECKPOINT_MS) await this.checkpoint();
    if (round.done) return 'done';
    await delay(round.pauseMs, signal);
    return 'more';
  }

  /** An expected failure is counted, logged and waited out; anything else ends the process. */
  private async guarded<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return 'failed';
      if (!(error instanceof UpstreamError) && !isPostgresAway(error)) throw error;
      const now = this.deps.clock();
      this.failingSince ??= now;
      const waitMs = backOffMs(error, now - this.failingSince, this.deps.random());
      if (now - this.failureLoggedAt >= FAILURE_LOG_MS) {
        this.failureLoggedAt = now;
        const detail = error instanceof UpstreamError ? { failure: error.failure, reason: error.reason } : {};
        this.logger.warn({ err: error, ...detail, waitMs: Math.round(waitMs) }, 'the source cannot go on for now');
      }
      await this.waitHoldingLease(waitMs, signal);
      return 'failed';
    }
  }

  /** A long back-off must not lose the lease. */
  private async waitHoldingLease(waitMs: number, signal: AbortSignal): Promise<void> {
    const until = this.deps.clock() + waitMs;
    for (let left = waitMs; left > 0 && !signal.aborted; left = until - this.deps.clock()) {
      await delay(Math.min(left, RENEW_MS), signal);
      if (this.leaseUntil === 0) continue;
      try {
        if (!(await this.renewWhenDue())) return;
      } catch (error) {
        if (!isPostgresAway(error)) throw error;
      }
    }
  }

  private recovered(): void {
    this.settled = true;
    if (this.failingSince === undefined) return;
    const seconds = Math.round((this.deps.clock() - this.failingSince) / 1000);
    this.failingSince = undefined;
    this.failureLoggedAt = 0;
    this.logger.info({ seconds }, 'the source goes on');
  }

  private async renewWhenDue(): Promise<boolean> {
    return this.deps.clock() < this.renewAt || this.renew();
  }

  private async renew(): Promise<boolean> {
    const now = this.deps.clock();
    const lease = { name: this.leaseName(), holder: this.deps.holder, seconds: LEASE_SECONDS };
    const held = await takeLease(this.deps.db, lease);
    this.leaseUntil = held ? now + LEASE_SECONDS * 1000 : 0;
    this.renewAt = held ? now + RENEW_MS : 0;
    return held;
  }

  /** A holder that lost its lease while it waited for the broker leaves the cursor to the next one. */
  private async checkpoint(): Promise<void> {
    if (!(await this.renewWhenDue())) return;
    const position = this.source.position();
    if (position !== undefined) await saveCursor(this.deps.db, this.source.name, position);
    this.savedAt = this.deps.clock();
    this.unsaved = false;
  }

  /** At stop: the checkpoint first, while the lease still keeps others from writing it. Losing either costs repetition only. */
  private async letGo(): Promise<void> {
    try {
      if (this.unsaved && this.leaseUntil > this.deps.clock()) await this.checkpoint();
      await releaseLease(this.deps.db, { name: this.leaseName(), holder: this.deps.holder });
    } catch (error) {
      this.logger.warn({ err: error }, 'the last checkpoint or the lease could not be written');
    }
    this.leaseUntil = 0;
    this.renewAt = 0;
    this.unsaved = false;
    await this.source.end();
  }

  private leaseName(): string {
    return `crawl:${this.source.name}`;
  }
}
