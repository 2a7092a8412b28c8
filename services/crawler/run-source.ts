import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { CrawlGap } from '../../shared/stores/crawl/crawl-gaps.ts';
import { UpstreamError } from '../../shared/upstream/upstream-error.ts';
import { backOffMs } from './back-off.ts';
import type { CrawlSource } from './crawl-source.ts';
import type { ItemPublisher } from './item-publisher.ts';
import { SourcePersistence, withinStop } from './source-persistence.ts';

/** How often a process that stands by looks whether the lease is free. */
const STANDBY_MS = 500;
/** Once Postgres is back, the process that crawled on is given so long to renew its lease before others ask for it. */
const AFTER_OUTAGE_MS = 3_000;
/** Failures are logged when they begin and then at this pace. */
const FAILURE_LOG_MS = 30_000;

export interface RunnerDeps {
  /** Its statements must end by a deadline of a few seconds. */
  db: Queryable;
  /** Names this process in leases. */
  holder: string;
  items: ItemPublisher;
  logger: Logger;
  clock: Clock;
  random: () => number;
}

/**
 * Drives one source for as long as this process holds its lease, or cannot know whether it does:
 *
 *   standby ──lease──▶ begin(cursor) ──▶ round ─▶ publish ─▶ acknowledged ─┐     beside it, in SourcePersistence:
 *      ▲                                  ▲                                │     renewals, checkpoints, gaps
 *      └────────── lease lost ────────────┴────── pause, or back-off ◀─────┘
 *
 * A crash before "acknowledged" repeats the round, one before a checkpoint everything since the last one.
 */
export class SourceRunner {
  private readonly source: CrawlSource;
  private readonly deps: RunnerDeps;
  private readonly logger: Logger;
  private readonly persistence: SourcePersistence;
  private failingSince: number | undefined;
  private failureLoggedAt = 0;
  private settled = false;
  /** Another process had the lease, and Postgres was away since: it may be at work still. */
  private othersMayHoldOn = false;

  constructor(source: CrawlSource, deps: RunnerDeps) {
    this.source = source;
    this.deps = deps;
    this.logger = deps.logger.child({ source: source.name });
    this.persistence = new SourcePersistence({
      ...deps,
      source: source.name,
      position: () => source.position(),
      logger: this.logger,
    });
  }

  /**
   * True once this source has brought its first round, or another process holds its lease. It stays true in an upstream
   * outage, which metrics and logs tell: it must not take the rest of the service out of rotation.
   */
  ready(): boolean {
    return this.settled;
  }

  /** Notes a stretch that the source may have missed. */
  missed(gap: CrawlGap): void {
    this.persistence.missed(gap);
  }

  /** Runs until the signal aborts or the source is done. Throws only what nobody expected. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await this.guarded(signal, () => this.standBy(signal));
      if (step !== 'held') continue;
      if ((await this.lead(signal)) === 'done') return;
    }
  }

  /** Waits for the lease, and begins where the last holder stopped. */
  private async standBy(signal: AbortSignal): Promise<'held' | 'elsewhere'> {
    if (this.othersMayHoldOn && this.failingSince !== undefined) {
      await this.persistence.writeGaps();
      await this.persistence.readCursor();
      this.recovered();
      await delay(AFTER_OUTAGE_MS, signal);
    }
    if (!(await this.persistence.takeLease())) {
      this.recovered();
      this.othersMayHoldOn = true;
      await this.persistence.writeGaps();
      await delay(STANDBY_MS, signal);
      return 'elsewhere';
    }
    await this.source.begin(await this.persistence.readCursor());
    this.othersMayHoldOn = false;
    return 'held';
  }

  /** Rounds, with the lease kept beside them, until the lease is lost, the source is done, or the signal aborts. */
  private async lead(signal: AbortSignal): Promise<'done' | 'ended'> {
    const ending = new AbortController();
    const running = AbortSignal.any([signal, ending.signal]);
    const end = (): void => {
      ending.abort();
    };
    const keeping = this.persistence.keep(running, end).finally(end);
    keeping.catch(() => undefined);
    let outcome: 'done' | 'ended';
    try {
      outcome = await this.drive(running);
    } finally {
      end();
    }
    // A statement that hangs is left to its deadline.
    await withinStop(keeping);
    await this.persistence.settle();
    await this.source.end();
    return outcome;
  }

  private async drive(signal: AbortSignal): Promise<'done' | 'ended'> {
    while (!signal.aborted) {
      if ((await this.guarded(signal, () => this.turn(signal))) === 'done') return 'done';
    }
    return 'ended';
  }

  private async turn(signal: AbortSignal): Promise<'done' | 'more'> {
    const round = await this.source.round(signal);
    await this.deps.items.publish(round, this.source, signal);
    round.acknowledged();
    this.persistence.moved();
    this.recovered();
    if (round.done) {
      await this.persistence.written(signal);
      return 'done';
    }
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
      await delay(waitMs, signal);
      return 'failed';
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
}
