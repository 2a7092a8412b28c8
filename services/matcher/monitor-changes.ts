import { PublishFailed } from '../../shared/kafka/publish-errors.ts';
import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryDeps } from '../../shared/runtime/retry.ts';
import type { CooperativeYield } from '../../shared/runtime/cooperative-yield.ts';
import { readActiveRules, readActiveStates, readRulesOf } from '../../shared/stores/monitors/monitor-rules.ts';
import { CandidatePublisher } from './candidate-publisher.ts';
import type { PublishCandidates } from './candidate-publisher.ts';
import { ActiveMonitors } from './active-monitors.ts';
import { keysetPages } from './keyset-pages.ts';
import { CoalescedJob } from './coalesced-job.ts';
import type { RecentItems } from './recent-items.ts';

const COMPARE_INTERVAL_MS = 60_000;
/** Monitors read by one statement: its answer is parsed in one go, and that must not take long. */
const RULES_PER_PAGE = 250;
const STATES_PER_PAGE = 2_000;

export interface MonitorChangesDeps {
  db: Queryable;
  monitors: ActiveMonitors;
  recent: RecentItems;
  /** How far clocks may differ from the broker's, in milliseconds. */
  toleranceMs: number;
  publish: PublishCandidates;
  cooperativeYield: CooperativeYield;
  logger: Logger;
  fatal: (error: Error) => void;
}

/**
 * Keeps the held monitors equal to the database. What is heard of a monitor, by an announcement or by the comparison,
 * says only that it has to be read; steps, one after the other, do that for all that was heard meanwhile. Each new or
 * changed rule is taken over first, then the ring is copied and scanned for that monitor: every item is in the copy or
 * was judged by the new rule on arrival.
 */
export class MonitorChanges implements Running {
  private readonly options: MonitorChangesDeps;
  private changed = new Set<string>();
  private readonly updates = new CoalescedJob(() => this.applyAllChanged());
  private readonly comparisons = new CoalescedJob(() => this.compareAll());
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(options: MonitorChangesDeps) {
    this.options = options;
  }

  /** Reads every active monitor; from then on they are compared with the database every minute. */
  async load(): Promise<void> {
    const { db, monitors, cooperativeYield, logger } = this.options;
    const begun = performance.now();
    const read = (afterId: string) => retry(() => readActiveRules(db, afterId, RULES_PER_PAGE), this.retryDeps);
    for await (const page of keysetPages(read)) {
      for (const monitor of page) {
        monitors.set(monitor);
        await cooperativeYield.pause();
      }
    }
    logger.info({ monitors: monitors.size, ms: msSince(begun) }, 'all active monitors are loaded');
    this.timer = setInterval(() => void this.compare(), COMPARE_INTERVAL_MS);
  }

  /** A monitor's state or rule changed. */
  markChanged(id: string): void {
    this.changed.add(id);
    this.updates.run().catch((error: unknown) => {
      this.fail(error);
    });
  }

  /** Resolves when all that is committed now is held and scanned for. Never, when stopped before. */
  compare(): Promise<void> {
    return new Promise((resolve) => {
      this.comparisons.run().then(resolve, (error: unknown) => {
        this.fail(error);
      });
    });
  }

  /**
   * Resolves when everything heard before this call is held, scanned for and published. To be awaited before each
   * offset commit: a commit tells the next owner of the partition that changes of 30 s before it need not be scanned
   * for again. Until then nothing more is taken in either, so that what has to be scanned stays in the ring, however
   * long Postgres is away.
   *
   * @param signal aborted: resolves early, and the offset must not be committed
   * @throws when stopped before; then the offset must not be committed either
   */
  async settled(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.updates.whenIdle, aborted]);
    if (!signal.aborted) this.stopping.signal.throwIfAborted();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    await Promise.allSettled([this.updates.whenIdle, this.comparisons.whenIdle]);
  }

  private get retryDeps(): RetryDeps {
    const { signal } = this.stopping;
    return { what: 'reading monitors', logger: this.options.logger, signal, isRetryable: isPostgresAway };
  }

  /** What could not be done leaves the held monitors wrong: nothing may be committed from now on. */
  private fail(error: unknown): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.options.fatal(error as Error);
  }

  /**
   * Tells of every monitor that is not held as the database has it. Monitors may change while the pages are read: each
   * page shows what was committed before the comparison began, and what comes later is announced, or found by the next
   * one.
   */
  private async compareAll(): Promise<void> {
    const { db, monitors, cooperativeYield, logger } = this.options;
    const begun = performance.now();
    // A step under way may have read before now what it takes over only when its monitor was compared.
    await this.updates.whenIdle;
    const active = new Set<string>();
    const read = (afterId: string) => retry(() => readActiveStates(db, afterId, STATES_PER_PAGE), this.retryDeps);
    for await (const page of keysetPages(read)) {
      for (const state of page) {
        active.add(state.id);
        if (!monitors.isUpToDate(state)) this.markChanged(state.id);
        await cooperativeYield.pause();
      }
    }
    for (const id of monitors.ids()) {
      if (!active.has(id)) this.markChanged(id);
      await cooperativeYield.pause();
    }
    await this.updates.whenIdle;
    this.stopping.signal.throwIfAborted();
    logger.debug({ monitors: monitors.size, ms: msSince(begun) }, 'all monitors are compared with the database');
  }

  private async applyAllChanged(): Promise<void> {
    const ids = [...this.changed];
    this.changed = new Set();
    for (let first = 0; first < ids.length; first += RULES_PER_PAGE)
      await this.applyChanges(ids.slice(first, first + RULES_PER_PAGE));
  }

  /** Brings the given monitors up to date, and looks at recent items again for those that began or changed. */
  private async applyChanges(ids: string[]): Promise<void> {
    const { db, monitors, toleranceMs, cooperativeYield } = this.options;
    const inactiveIds = new Set(ids);
    const begun = new ActiveMonitors();
    const scanFrom = new Map<string, number>();
    for (const monitor of await retry(() => readRulesOf(db, ids), this.retryDeps)) {
      inactiveIds.delete(monitor.id);
      const from = monitors.set(monitor);
      if (from !== undefined) {
        begun.set(monitor);
        scanFrom.set(monitor.id, from - toleranceMs);
      }
      await cooperativeYield.pause();
    }
    for (const id of inactiveIds) {
      monitors.remove(id);
      await cooperativeYield.pause();
    }
    if (scanFrom.size > 0) await this.scan(begun, scanFrom);
  }

  /**
   * @param begun the monitors that were taken over, and no others: a scan costs no more where very many match an item
   * @param scanFrom by monitor, the append time in milliseconds from which on items are its own
   */
  private async scan(begun: ActiveMonitors, scanFrom: ReadonlyMap<string, number>): Promise<void> {
    const { recent, cooperativeYield, logger } = this.options;
    // Copied after the rules were taken over: an item is in the copy, or it was judged by the new rule, or both.
    const items = recent.since(Math.min(...scanFrom.values()));
    const candidatePublisher = new CandidatePublisher((records) => this.publish(records), cooperativeYield);
    for (const entered of items) {
      await candidatePublisher.add(begun.candidates(entered, (id) => entered.enteredAtMs >= scanFrom.get(id)!));
      await cooperativeYield.pause();
    }
    await candidatePublisher.flush();
    logger.debug({ monitors: scanFrom.size, items: items.length }, 'recent items scanned for changed monitors');
  }

  private async publish(records: Parameters<PublishCandidates>[0]): Promise<void> {
    const { logger, publish } = this.options;
    await retry(() => publish(records), {
      what: 'publishing candidates of changed monitors',
      logger,
      signal: this.stopping.signal,
      isRetryable: (error) => error instanceof PublishFailed,
    });
  }
}

function msSince(begun: number): number {
  return Math.round(performance.now() - begun);
}
