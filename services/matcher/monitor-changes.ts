import { PublishFailed } from '../../shared/kafka/kafka-unavailable.ts';
import { readActiveRules, readActiveStates, readRulesById } from '../../shared/monitors/monitor-rules.ts';
import type { MonitorRule } from '../../shared/monitors/monitor-rules.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import { untilAborted } from '../../shared/runtime/errors.ts';
import type { CooperativeYield } from '../../shared/runtime/clock.ts';
import type { MonitorShard } from '../../shared/rules/identifiers.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryDeps } from '../../shared/runtime/retry.ts';
import { ActiveMonitors, CandidatePublisher } from './active-monitors.ts';
import type { PublishCandidates } from './active-monitors.ts';
import { readRecent } from './recent-items.ts';
import type { RecentItems } from './recent-items.ts';

const COMPARE_INTERVAL_MS = 60_000;
const RULES_PER_PAGE = 250;
/**
 * As JSON, besides the last monitor, which may have 60 KB. A page is parsed without a yield to the event loop: this
 * takes about as long as one slice. Most pages have 100 KB.
 */
const BYTES_PER_PAGE = 512 * 1024;
const STATES_PER_PAGE = 2_000;

export interface MonitorChangesDeps {
  db: Queryable;
  /** The monitors that this process holds; default: all. */
  shard?: MonitorShard | undefined;
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
 * Keeps `ActiveMonitors` equal to the database and scans recent items for new and changed monitors.
 *
 * Before: the API or the biller commits a change and notifies, and `ChangeListener` receives the id. After:
 * `ItemMatcher` matches new items against the updated monitors.
 *
 * A notification or a comparison only marks a monitor as changed. One update at a time reads all marked monitors and
 * applies them. It first applies the new rule, then copies the recent items and scans the copy, so every item is in the
 * copy or was matched against the new rule on arrival. A crash loses the pending updates, but no offset behind them is
 * committed (`settled`), so the next owner of the partition scans again; repeated candidates are harmless.
 */
export class MonitorChanges implements Running {
  private readonly options: MonitorChangesDeps;
  private changed = new Set<string>();
  private readonly updates = new CoalescedJob(() => this.applyAllChanged());
  private readonly comparisons = new CoalescedJob(() => this.compareAll());
  private readonly stopping = new AbortController();
  /** The comparison that finds what was not announced while nobody listened. */
  private afterSilence: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: MonitorChangesDeps) {
    this.options = options;
  }

  /** Loads all active monitors and compares them with the database every minute from then on. */
  async load(): Promise<void> {
    const { db, shard, monitors, cooperativeYield, logger } = this.options;
    const startedAt = performance.now();
    const readAfter = (id: string) => readActiveRules(db, id, RULES_PER_PAGE, BYTES_PER_PAGE, shard);
    const read = (afterId: string) => retry(() => readAfter(afterId), this.retryDeps);
    for await (const page of keysetPages(read)) {
      for (const monitor of page) {
        monitors.set(monitor);
        await cooperativeYield.pause();
      }
    }
    logger.info({ monitors: monitors.size, ms: msSince(startedAt) }, 'all active monitors are loaded');
    this.timer = setInterval(() => void this.compare(), COMPARE_INTERVAL_MS);
  }

  /** Schedules a read of a monitor whose state or rule changed. */
  markChanged(id: string): void {
    this.changed.add(id);
    this.updates.run().catch((error: unknown) => {
      this.fail(error);
    });
  }

  /** Resolves when what is committed now is applied and scanned. Never settles when stopped before. */
  compare(): Promise<void> {
    return this.orFail(this.comparisons.run());
  }

  /** As `compare`, after a time in which changes were not announced: `settled` waits for it. */
  compareAfterSilence(): Promise<void> {
    const comparison = this.comparisons.run();
    this.afterSilence = comparison;
    const ended = (): void => {
      if (this.afterSilence === comparison) this.afterSilence = undefined;
    };
    comparison.then(ended, ended);
    return this.orFail(comparison);
  }

  /**
   * Resolves when every change received before this call is applied, scanned and published, and what was not announced
   * is found.
   *
   * Must be awaited before each offset commit: after a commit, the next owner of the partition does not scan again for
   * changes more than 30 s older than it. The wait also stops the intake of items, so the items that must be scanned
   * stay among the recent ones however long Postgres is unavailable.
   *
   * @param signal when it aborts, the promise resolves early and the offset must not be committed
   * @throws when stopped before; the offset must not be committed either
   */
  async settled(signal: AbortSignal): Promise<void> {
    if (this.afterSilence) await untilAborted(this.afterSilence, signal);
    const { whenIdle } = this.updates;
    if (whenIdle && !signal.aborted) await untilAborted(whenIdle, signal);
    if (!signal.aborted) this.stopping.signal.throwIfAborted();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    await Promise.allSettled([this.updates.whenIdle, this.comparisons.whenIdle]);
  }

  private get retryDeps(): RetryDeps {
    const { signal } = this.stopping;
    return { what: 'reading monitors', logger: this.options.logger, signal, isRetryable: isPostgresUnavailable };
  }

  private orFail(comparison: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      comparison.then(resolve, (error: unknown) => {
        this.fail(error);
      });
    });
  }

  /** A failed update leaves outdated rules in memory, so no offset may be committed from now on. */
  private fail(error: unknown): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.options.fatal(error as Error);
  }

  /**
   * Marks every monitor that differs from the database as changed. Monitors may change while the pages are read: each
   * page includes everything that was committed before the comparison began. Later changes arrive as notifications or
   * are found by the next comparison.
   */
  private async compareAll(): Promise<void> {
    const { db, shard, monitors, cooperativeYield, logger } = this.options;
    const startedAt = performance.now();
    // A running update may have read a monitor earlier and apply that state after the monitor was compared.
    await this.updates.whenIdle;
    const active = new Set<string>();
    const read = (afterId: string) =>
      retry(() => readActiveStates(db, afterId, STATES_PER_PAGE, shard), this.retryDeps);
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
    logger.debug(
      { monitors: monitors.size, ms: msSince(startedAt) },
      'all active monitors were compared with the database',
    );
  }

  private async applyAllChanged(): Promise<void> {
    const ids = [...this.changed];
    this.changed = new Set();
    for (let first = 0; first < ids.length; first += RULES_PER_PAGE)
      await this.applyChanges(ids.slice(first, first + RULES_PER_PAGE));
  }

  /** Reads and applies the given monitors, then scans recent items for those that are new or changed. */
  private async applyChanges(ids: string[]): Promise<void> {
    const { monitors, toleranceMs, cooperativeYield } = this.options;
    const inactiveIds = new Set(ids);
    const toScan = new ActiveMonitors();
    const scanFrom = new Map<string, number>();
    for await (const monitor of this.readRules(ids)) {
      inactiveIds.delete(monitor.id);
      const from = monitors.set(monitor);
      if (from !== undefined) {
        toScan.set(monitor);
        scanFrom.set(monitor.id, from - toleranceMs);
      }
      await cooperativeYield.pause();
    }
    for (const id of inactiveIds) {
      monitors.remove(id);
      await cooperativeYield.pause();
    }
    if (scanFrom.size > 0) await this.scan(toScan, scanFrom);
  }

  /** Reads the rules of those of the given monitors that are active. */
  private async *readRules(ids: readonly string[]): AsyncGenerator<MonitorRule> {
    const { db, shard } = this.options;
    const unread = new Set(ids);
    for (let isCut = true; isCut;) {
      const read = () => readRulesById(db, [...unread], BYTES_PER_PAGE, shard);
      const page = await retry(read, this.retryDeps);
      for (const monitor of page.monitors) {
        unread.delete(monitor.id);
        yield monitor;
      }
      isCut = page.isCut;
    }
  }

  /** @param scanFrom by monitor, the append time in milliseconds from which items count for it */
  private async scan(toScan: ActiveMonitors, scanFrom: ReadonlyMap<string, number>): Promise<void> {
    const { recent, cooperativeYield, logger } = this.options;
    // Copied after the rules were applied: each item is in the copy, or was matched against the new rule, or both.
    const items = recent.since(Math.min(...scanFrom.values()));
    const candidatePublisher = new CandidatePublisher((records) => this.publish(records), cooperativeYield);
    for (const recentItem of items) {
      const entered = readRecent(recentItem);
      await candidatePublisher.add(toScan.candidates(entered, (id) => entered.enteredAtMs >= scanFrom.get(id)!));
      await cooperativeYield.pause();
    }
    await candidatePublisher.flush();
    logger.debug({ monitors: scanFrom.size, items: items.length }, 'recent items were scanned for changed monitors');
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

function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/**
 * Yields all rows page by page in id order and stops at an empty page. The next page is read while the caller works on
 * the present one.
 *
 * @param read reads the page after the given id; '' reads the first page
 */
async function* keysetPages<T extends { id: string }>(read: (afterId: string) => Promise<T[]>): AsyncGenerator<T[]> {
  let next: Promise<T[]> | undefined = read('');
  while (next) {
    const page: T[] = await next;
    const last = page.at(-1);
    next = last && read(last.id);
    // Nothing awaits this promise until the caller is done with the page; its error is thrown then.
    next?.catch(() => undefined);
    if (last) yield page;
  }
}

/** Never runs twice at the same time. All calls during a run share one further run after it. */
export class CoalescedJob {
  private readonly job: () => Promise<void>;
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(job: () => Promise<void>) {
    this.job = job;
  }

  /** Settles with the result of a run that starts with this call or later. */
  run(): Promise<void> {
    if (this.running) {
      this.following ??= this.running
        .catch(() => undefined)
        .then(() => {
          this.following = undefined;
          return this.run();
        });
      return this.following;
    }
    this.running = this.job().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Settles when all requested runs are done; undefined when none is running. */
  get whenIdle(): Promise<void> | undefined {
    return this.following ?? this.running;
  }
}
