import { setImmediate } from 'node:timers/promises';
import type { Candidate } from '../../schemas/candidate.ts';
import { PublishFailed } from '../../shared/kafka/publisher.ts';
import { isPostgresAway } from '../../shared/postgres/pool.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryOptions } from '../../shared/runtime/retry.ts';
import { readActiveRules, readActiveStates, readRulesOf } from '../../shared/stores/monitor-rules.ts';
import type { MonitorRule } from '../../shared/stores/monitor-rules.ts';
import { CANDIDATE_PORTION } from './held-monitors.ts';
import type { HeldMonitors } from './held-monitors.ts';
import type { RecentItems } from './recent-items.ts';

const COMPARE_EVERY_MS = 60_000;
/** Monitors read by one statement and taken over in one go. */
const PAGE = 5_000;
const SLICE_MS = 8;

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
  private timer: NodeJS.Timeout | undefined;

  constructor(options: MonitorChangesOptions) {
    this.options = options;
  }

  /** Reads every active monitor; from then on they are compared with the database every minute. */
  async load(): Promise<void> {
    const { db, monitors } = this.options;
    let page: MonitorRule[];
    let after = '';
    do {
      page = await retry(() => readActiveRules(db, after, PAGE), this.again);
      for (const monitor of page) monitors.set(monitor);
      after = page.at(-1)?.id ?? after;
    } while (page.length === PAGE);
    this.timer = setInterval(() => void this.compare(), COMPARE_EVERY_MS);
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
   * Resolves when everything heard before this call is held, scanned for and published. To be awaited before each offset
   * commit: a commit tells the next owner of the partition that changes of 30 s before it need not be scanned for again. Until
   * then nothing more is taken in either, so that what has to be scanned stays in the ring, however long Postgres is away.
   *
   * @param signal aborted: resolves early, and the offset must not be committed
   */
  async settled(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    // What was heard meanwhile is taken up by the step under way or by the one after it.
    await Promise.race([this.working, aborted]);
    await Promise.race([this.working, aborted]);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    await this.working;
  }

  private get again(): RetryOptions {
    const { signal } = this.stopping;
    return { what: 'reading monitors', logger: this.options.logger, signal, isRetryable: isPostgresAway };
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
    const compared = this.comparisons;
    this.comparisons = [];
    const ids = [...this.changed];
    this.changed.clear();
    const differences = compared.length > 0 ? await retry(() => this.findDifferences(), this.again) : [];
    await this.scan(await this.takeOver([...new Set(ids.concat(differences))]));
    for (const resolve of compared) resolve();
  }

  private async findDifferences(): Promise<string[]> {
    const { changed, gone } = this.options.monitors.differences(await readActiveStates(this.options.db));
    return changed.concat(gone);
  }

  /** Brings the given monitors up to date; answers from when on recent items have to be scanned, by monitor. */
  private async takeOver(ids: string[]): Promise<Map<string, number>> {
    const { db, monitors, toleranceMs } = this.options;
    const scanFrom = new Map<string, number>();
    for (let first = 0; first < ids.length; first += PAGE) {
      const page = ids.slice(first, first + PAGE);
      const active = await retry(() => readRulesOf(db, page), this.again);
      const gone = new Set(page);
      for (const monitor of active) {
        gone.delete(monitor.id);
        const from = monitors.set(monitor);
        if (from !== undefined) scanFrom.set(monitor.id, from - toleranceMs);
      }
      for (const id of gone) monitors.remove(id);
    }
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
      for (const candidate of monitors.candidates(entered, wanted)) candidates.push(candidate);
      if (candidates.length >= CANDIDATE_PORTION) {
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
    await retry(() => publish(candidates), {
      what: 'publishing candidates of changed monitors',
      logger,
      signal: this.stopping.signal,
      isRetryable: (error) => error instanceof PublishFailed,
    });
  }
}
