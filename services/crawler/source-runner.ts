import { isClickhouseUnavailable } from '../../shared/clickhouse/clickhouse-unavailable.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { CrawlGap, GapClosing } from '../../shared/crawl/crawl-gaps.ts';
import type { WantedLease } from '../../shared/maintenance/leases.ts';
import { CallLoop, isExpectedFailure } from './call-loop.ts';
import type { CrawlSource } from './crawl-source.ts';
import type { FailureLog } from './failure-log.ts';
import type { ItemPublisher } from './item-publisher.ts';
import { SourcePersistence, withinStopDeadline } from './source-persistence.ts';
import type { SourceShares } from './source-shares.ts';

/** How often a standby process tries to acquire the lease. */
const STANDBY_MS = 500;
/** The same for a process that holds its part of the sources: it takes a source only if no other process does. */
const SURPLUS_STANDBY_MS = 6_000;
/**
 * After an outage of Postgres, standby processes wait this long, so that the process that kept crawling renews first.
 */
const AFTER_OUTAGE_MS = 3_000;

export interface RunnerDeps {
  /** Its statements must end by a deadline of a few seconds. */
  db: Queryable;
  /** Names this process in leases. */
  holder: string;
  items: ItemPublisher;
  /** Takes or renews a lease. Throws while Postgres is unavailable. */
  takeLease: (lease: WantedLease) => Promise<boolean>;
  /** Failed calls, and outages of Postgres, of all sources of the process. */
  failures: Pick<FailureLog, 'failed' | 'succeeded'>;
  outages: Pick<FailureLog, 'failed' | 'succeeded'>;
  shares: Pick<SourceShares, 'mayTake' | 'add' | 'remove'>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  random: () => number;
}

/**
 * Drives one source while this process holds its lease, or cannot check whether it does:
 *
 *   standby ──lease──▶ begin(cursor) ──▶ calls (call-loop.ts): fetch ─▶ publish ─▶ acknowledged
 *      ▲                                  │      concurrently, in SourcePersistence: lease renewals, checkpoints, gaps
 *      └────────── lease lost ────────────┘
 *
 * A crash before "acknowledged" repeats the call. A crash before a checkpoint repeats everything since the last one.
 */
export class SourceRunner {
  private readonly source: CrawlSource;
  private readonly deps: RunnerDeps;
  private readonly logger: Logger;
  private readonly persistence: SourcePersistence;
  private readonly calls: CallLoop;
  private hasSettled = false;
  /**
   * Another process held the lease when it was last checked. If Postgres is unavailable, that process may still be
   * crawling.
   */
  private anotherMayCrawl = false;
  /** This process holds its part of the sources, so others try first. */
  private mustYield = false;

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
    this.calls = new CallLoop(source, {
      ...deps,
      isPatient: source.isPatient === true,
      publish: (fetched, signal) => deps.items.publish(fetched, source, signal),
      onMoved: () => {
        this.hasSettled = true;
        this.persistence.markMoved();
      },
      onIdle: () => {
        this.hasSettled = true;
      },
      onShortOfBudget: (isShort) => {
        this.reportBudget(isShort);
      },
    });
  }

  /**
   * True once this source has finished its first call or has none to make, or another process holds its lease. It stays
   * true during an upstream outage, which metrics and logs report: an outage must not take the rest of the service out
   * of rotation. A source that waits for ClickHouse is ready, because nothing else waits for it.
   */
  ready(): boolean {
    return this.hasSettled;
  }

  /** Records a stretch that the source may have missed. */
  recordGap(gap: CrawlGap): void {
    const { source, ...stretch } = gap;
    this.deps.metrics.crawlerGaps.inc({ source });
    this.logger.warn(stretch, 'a gap is recorded');
    this.persistence.recordGap(gap);
  }

  /** Closes a gap recorded before: it was filled, or is given up. */
  closeGap(closing: GapClosing): void {
    this.persistence.closeGap(closing);
  }

  /** Runs until the signal aborts or the source is done. Throws only unexpected errors. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await this.withBackOff(signal, () => this.standBy(signal));
      if (step !== 'leased') continue;
      if ((await this.crawlWhileLeased(signal)) === 'done') return;
    }
  }

  /** Tries to acquire the lease, and then starts the source where the last holder stopped. */
  private async standBy(signal: AbortSignal): Promise<'leased' | 'standby'> {
    if (this.anotherMayCrawl && this.calls.isFailing) {
      await this.persistence.writeGaps();
      await this.persistence.readCursor();
      this.settle();
      await delay(AFTER_OUTAGE_MS, signal);
    }
    if (this.mustYield) {
      this.mustYield = false;
      this.settle();
      await delay(SURPLUS_STANDBY_MS, signal);
      return 'standby';
    }
    if (!(await this.persistence.takeLease())) {
      this.mustYield = !this.deps.shares.mayTake;
      this.settle();
      this.anotherMayCrawl = true;
      await this.persistence.writeGaps();
      await delay(STANDBY_MS, signal);
      return 'standby';
    }
    await this.source.begin(await this.persistence.readCursor());
    this.anotherMayCrawl = false;
    return 'leased';
  }

  /** Makes calls and renews the lease until the lease is lost, the source is done, or the signal aborts. */
  private async crawlWhileLeased(signal: AbortSignal): Promise<'done' | 'ended'> {
    const ending = new AbortController();
    const running = AbortSignal.any([signal, ending.signal]);
    const end = (): void => {
      ending.abort();
    };
    const persisting = this.persistence.run(running, end).finally(end);
    persisting.catch(() => undefined);
    const held = {
      release: () => {
        this.mustYield = true;
        end();
      },
    };
    this.deps.shares.add(held);
    let outcome: 'done' | 'ended';
    try {
      outcome = await this.calls.run(running);
      if (outcome === 'done') await this.persistence.flush(running);
    } finally {
      end();
      this.deps.shares.remove(held);
    }
    // A hanging statement ends at its own deadline; stopping does not wait for it.
    await withinStopDeadline(persisting);
    await this.persistence.finish();
    await this.source.end();
    // A source that has ended must not keep a phase of failures open.
    this.deps.failures.succeeded(this.source.name);
    this.deps.outages.succeeded(this.source.name);
    return outcome;
  }

  private reportBudget(isShort: boolean): void {
    this.hasSettled = true;
    this.deps.metrics.crawlerDegraded.set({ part: this.source.name }, isShort ? 1 : 0);
    if (isShort) this.logger.warn('the budget of calls to the forum leaves this source none; see upstream_lane_calls');
    else this.logger.info('the budget of calls to the forum leaves this source calls again');
  }

  /** Logs an expected failure and backs off. Rethrows any other error, which ends the process. */
  private async withBackOff<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return 'failed';
      if (!isExpectedFailure(error)) throw error;
      if (isClickhouseUnavailable(error)) this.hasSettled = true;
      await delay(this.calls.noteFailure(error), signal);
      return 'failed';
    }
  }

  private settle(): void {
    this.hasSettled = true;
    this.calls.noteSuccess();
  }
}
