import { isClickhouseUnavailable } from '../../shared/clickhouse/clickhouse-unavailable.ts';
import type { CrawlGap, GapClosing } from '../../shared/crawl/crawl-gaps.ts';
import { isOwnBudgetRefusal, UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import type { WantedLease } from '../../shared/maintenance/leases.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Call, CrawlSource, Fetched } from './crawl-source.ts';
import { backOffMs, isExpectedFailure } from './failure-log.ts';
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
 *   standby ──lease──▶ begin(cursor) ──▶ calls (CallLoop): fetch ─▶ publish ─▶ acknowledged
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
    if (isShort) this.logger.warn('the call budget leaves no calls for this source; see upstream_lane_calls');
    else this.logger.info('the call budget leaves calls for this source again');
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

/** A source without a call is asked again after this time at the latest. */
const MAX_WAIT_MS = 60_000;
/** A source without a call for this long, because the budget is used up, is reported as short of budget. */
const SHORT_OF_BUDGET_MS = 30_000;

/** How often a loop that may not call asks again. */
const PAUSED_MS = 1_000;

/** With a scarce budget at most about one call of a patient source in four is refused, not all that are in flight. */
const SLOTS_PER_SUCCESS = 0.25;

interface CallLoopDeps {
  /** Resolves when the broker has every item. */
  publish: (fetched: Fetched, signal: AbortSignal) => Promise<void>;
  /** Called after each acknowledgement. */
  onMoved: () => void;
  /** Called when the source has no call to make now, or its call waits for ClickHouse. */
  onIdle: () => void;
  /** Called when the budget leaves the source no calls for 30 s, and when it has calls again. */
  onShortOfBudget: (isShort: boolean) => void;
  /** False while nothing may be crawled; default: always true. */
  mayCall?: (() => boolean) | undefined;
  /** Whether the source makes fewer calls at once after a refusal by our budget. Live sources must not. */
  isPatient: boolean;
  /** Shared by all sources of a process. */
  failures: Pick<FailureLog, 'failed' | 'succeeded'>;
  clock: Clock;
  /** Returns a number in [0, 1), for jitter. */
  random: () => number;
}

/**
 * Makes the calls of one source, up to its `maxInFlight` at once. After a failure no call starts until the back-off has
 * passed, or a later call succeeds. A call that our own budget refuses is no failure: it starts when the budget allows.
 */
export class CallLoop {
  private readonly source: CrawlSource;
  private readonly deps: CallLoopDeps;
  private readonly inFlight = new Set<Promise<void>>();
  private resumeAt = Number.NEGATIVE_INFINITY;
  private failingSince: number | undefined;
  /** The last failure was the forum's. */
  private isForumFailing = false;
  private failedAt = Number.NEGATIVE_INFINITY;
  private refusedSince: number | undefined;
  private isShort = false;
  /** How many calls a patient source may have in flight: 1 after a refusal by our budget, more after each success. */
  private slots = Infinity;
  private ending: 'done' | { unexpected: unknown } | undefined;
  /** Aborting it ends the wait for the next start. */
  private wake = new AbortController();

  constructor(source: CrawlSource, deps: CallLoopDeps) {
    this.source = source;
    this.deps = deps;
  }

  /** True from a failure until the next success. */
  get isFailing(): boolean {
    return this.failingSince !== undefined;
  }

  /**
   * Resolves when the source is done or the signal aborts, and no call is in flight. Rejects with the first unexpected
   * error.
   */
  async run(signal: AbortSignal): Promise<'done' | 'ended'> {
    const failed = new AbortController();
    const running = AbortSignal.any([signal, failed.signal]);
    const wakeUp = (): void => {
      this.wake.abort();
    };
    running.addEventListener('abort', wakeUp, { once: true });
    this.ending = undefined;
    while (!running.aborted && this.hasMore()) {
      this.wake = new AbortController();
      const waitMs = this.start(running);
      if (waitMs > 0) await delay(Math.min(waitMs, MAX_WAIT_MS), this.wake.signal);
    }
    failed.abort();
    await Promise.all(this.inFlight);
    return this.outcome();
  }

  private hasMore(): boolean {
    return this.ending === undefined;
  }

  private outcome(): 'done' | 'ended' {
    if (this.ending === undefined) return 'ended';
    if (this.ending !== 'done') throw this.ending.unexpected;
    return 'done';
  }

  /** Counts a failure outside the calls (Postgres is unavailable on standby) and returns the milliseconds to wait. */
  noteFailure(error: unknown): number {
    const { clock, random, failures } = this.deps;
    const now = clock();
    this.failingSince ??= now;
    this.failedAt = now;
    this.isForumFailing = error instanceof UpstreamError;
    const waitMs = backOffMs(error, now - this.failingSince, random());
    failures.failed(this.source.name, error, { waitMs: Math.round(waitMs) });
    return waitMs;
  }

  /** Ends the phase of failures. */
  noteSuccess(): void {
    this.resumeAt = Number.NEGATIVE_INFINITY;
    this.failingSince = undefined;
    this.deps.failures.succeeded(this.source.name);
  }

  /** Starts one call if the source has one; returns the milliseconds until it should be asked again. */
  private start(signal: AbortSignal): number {
    const now = this.deps.clock();
    if (this.inFlight.size >= Math.min(this.source.maxInFlight, Math.floor(this.slots))) return MAX_WAIT_MS;
    if (this.deps.mayCall?.() === false) {
      this.deps.onIdle();
      return PAUSED_MS;
    }
    if (now < this.resumeAt) return this.resumeAt - now;
    const step = this.source.next(now);
    // A wait of 0 would keep the event loop busy forever.
    if ('waitMs' in step) {
      if (this.inFlight.size === 0) this.deps.onIdle();
      return Math.max(1, step.waitMs);
    }
    const running: Promise<void> = this.makeCall(step, now, signal)
      .catch((error: unknown) => {
        if (this.ending === undefined || this.ending === 'done') this.ending = { unexpected: error };
      })
      .finally(() => {
        this.inFlight.delete(running);
        this.wake.abort();
      });
    this.inFlight.add(running);
    return 0;
  }

  private async makeCall(call: Call, startedAt: number, signal: AbortSignal): Promise<void> {
    let fetched: Fetched;
    try {
      fetched = await call.fetch(signal);
      await this.deps.publish(fetched, signal);
    } catch (error) {
      call.failed(error);
      this.afterFailure(error, signal);
      return;
    }
    fetched.acknowledged();
    this.deps.onMoved();
    const isLocal = fetched.isLocal === true;
    if (!isLocal) {
      this.noteBudget(false);
      this.slots += SLOTS_PER_SUCCESS;
    }
    // A call from before a failure says nothing about the forum now, nor does one that did not ask it.
    if (startedAt >= this.failedAt && !(isLocal && this.isForumFailing)) this.noteSuccess();
    if (fetched.done === true) this.ending ??= 'done';
  }

  /** Rethrows an unexpected error. */
  private afterFailure(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const now = this.deps.clock();
    if (isOwnBudgetRefusal(error)) {
      this.noteBudget(true);
      if (this.deps.isPatient) this.slots = 1;
      this.resumeAt = Math.max(this.resumeAt, now + (error.retryAfterMs ?? 0));
      return;
    }
    if (!isExpectedFailure(error)) throw error;
    if (isClickhouseUnavailable(error)) this.deps.onIdle();
    this.resumeAt = Math.max(this.resumeAt, now + this.noteFailure(error));
  }

  private noteBudget(isRefused: boolean): void {
    const now = this.deps.clock();
    if (!isRefused) this.refusedSince = undefined;
    else this.refusedSince ??= now;
    const isShort = this.refusedSince !== undefined && now - this.refusedSince >= SHORT_OF_BUDGET_MS;
    if (isShort === this.isShort) return;
    this.isShort = isShort;
    this.deps.onShortOfBudget(isShort);
  }
}
