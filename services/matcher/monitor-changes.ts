import { setImmediate } from 'node:timers/promises';
import type { Candidate } from '../../schemas/candidate.ts';
import { isPostgresAway } from '../../shared/postgres/pool.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { readActiveRules, readActiveStates, readRulesOf } from '../../shared/stores/monitor-rules.ts';
import type { HeldMonitors } from './held-monitors.ts';
import type { RecentItems } from './recent-items.ts';

const COMPARE_EVERY_MS = 60_000;
const LOAD_PAGE = 5_000;
const SLICE_MS = 8;
/** Candidates are published in portions, so that a scan after a long outage does not hold all of them. */
const PUBLISH_PORTION = 2_000;

export interface MonitorChangesOptions {
  db: Queryable;
  monitors: HeldMonitors;
  recent: RecentItems;
  /** How far clocks may differ from the broker's, in milliseconds. */
  toleranceMs: number;
  publish: (candidates: Candidate[]) => Promise<void>;
  logger: Logger;
  fatal: (error: Error) => void;
}

/**
 * Keeps the held monitors equal to the database, one step after the other. Each new or changed rule is taken over first, then
 * the ring is copied and scanned for that monitor: every item is in the copy or was judged by the new rule on arrival.
 */
export class MonitorChanges implements Running {
  private readonly options: MonitorChangesOptions;
  private readonly changed = new Set<string>();
  private comparisons: (() => void)[] = [];
  private working: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(options: MonitorChangesOptions) {
    this.options = options;
    this.timer = setInterval(() => void this.compare(), COMPARE_EVERY_MS);
  }

  /** Reads every active monitor. */
  async load(): Promise<void> {
    const { db, monitors } = this.options;
    let after = '';
    for (;;) {
      const page = await readActiveRules(db, after, LOAD_PAGE);
      for (const monitor of page) monitors.set(monitor);
      if (page.length < LOAD_PAGE) return;
      after = page.at(-1)!.id;
    }
  }

  /** A monitor's state or rule changed. */
  change(id: string): void {
    this.changed.add(id);
    this.work();
  }

  /** Resolves when all that is committed now is held and scanned for. Never, when stopped before. */
  compare(): Promise<void> {
    return new Promise((resolve) => {
      this.comparisons.push(resolve);
      this.work();
    });
  }

  /**
   * Resolves when the scans under way are published. To be awaited before each offset commit: a commit tells the next owner
   * of the partition that changes of 30 s before it need not be scanned for again.
   */
  async settled(): Promise<void> {
    await this.working;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    await this.working;
  }

  private work(): void {
    if (this.working || this.stopping.signal.aborted) return;
    this.working = this.workAll()
      .catch((error: unknown) => {
        if (!this.stopping.signal.aborted) this.options.fatal(error as Error);
      })
      .finally(() => {
        this.working = undefined;
        if (this.changed.size > 0 || this.comparisons.length > 0) this.work();
      });
  }

  private async workAll(): Promise<void> {
    const { logger } = this.options;
    const { signal } = this.stopping;
    const compared = this.comparisons;
    this.comparisons = [];
    const ids = [...this.changed];
    this.changed.clear();
    const again = { what: 'reading changed monitors', logger, signal, isRetryable: isPostgresAway };
    if (compared.length > 0) ids.push(...(await retry(() => this.findDifferences(), again)));
    if (ids.length > 0) await this.scan(await retry(() => this.takeOver(ids), again));
    for (const resolve of compared) resolve();
  }

  private async findDifferences(): Promise<string[]> {
    const { changed, gone } = this.options.monitors.differences(await readActiveStates(this.options.db));
    return [...changed, ...gone];
  }

  /** Brings the given monitors up to date; answers from when on recent items have to be scanned, by monitor. */
  private async takeOver(ids: string[]): Promise<Map<string, number>> {
    const { db, monitors, toleranceMs } = this.options;
    const active = await readRulesOf(db, ids);
    const gone = new Set(ids);
    const scanFrom = new Map<string, number>();
    for (const monitor of active) {
      gone.delete(monitor.id);
      const from = monitors.set(monitor);
      if (from !== undefined) scanFrom.set(monitor.id, from - toleranceMs);
    }
    for (const id of gone) monitors.remove(id);
    return scanFrom;
  }

  private async scan(scanFrom: Map<string, number>): Promise<void> {
    if (scanFrom.size === 0) return;
    const { monitors, recent, logger } = this.options;
    // Copied after the rules were taken over: an item is in the copy, or it was judged by the new rule, or both.
    const items = recent.since(Math.min(...scanFrom.values()));
    let candidates: Candidate[] = [];
    let sliceEnds = performance.now() + SLICE_MS;
    for (const entered of items) {
      const wanted = (id: string) => entered.enteredAtMs >= (scanFrom.get(id) ?? Number.POSITIVE_INFINITY);
      candidates.push(...monitors.candidates(entered, wanted));
      if (candidates.length >= PUBLISH_PORTION) {
        await this.publish(candidates);
        candidates = [];
      }
      if (performance.now() > sliceEnds) {
        await setImmediate();
        sliceEnds = performance.now() + SLICE_MS;
      }
    }
    await this.publish(candidates);
    logger.debug({ monitors: scanFrom.size, items: items.length }, 'recent items scanned for changed monitors');
  }

  private async publish(candidates: Candidate[]): Promise<void> {
    if (candidates.length === 0) return;
    const { logger, publish } = this.options;
    const isRetryable = (error: unknown) => error instanceof Error && error.name === 'PublishFailed';
    await retry(() => publish(candidates), {
      what: 'publishing candidates of changed monitors',
      logger,
      signal: this.stopping.signal,
      isRetryable,
    });
  }
}
