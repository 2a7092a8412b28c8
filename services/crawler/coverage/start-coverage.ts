import { randomUUID } from 'node:crypto';
import { postShare } from '../../../shared/crawl/rules/coverage.ts';
import { unavailableEngine } from '../../../shared/runtime/outage-log.ts';
import { OutageLog } from '../../../shared/runtime/outage-log.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { withQueryDeadline } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { toError } from '../../../shared/runtime/errors.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { newestArchivedAt } from '../../../shared/crawl/archived-hours.ts';
import { countOpenGaps } from '../../../shared/crawl/crawl-coverage.ts';
import { releaseLease, takeLease } from '../../../shared/maintenance/leases.ts';
import { CoverageRollup } from './coverage-rollup.ts';
import type { CoverageRollupDeps, CoveredHour } from './coverage-rollup.ts';

const LEASE = 'crawl:coverage';
/** A pass may take longer; two processes that compute at once are harmless. */
const LEASE_SECONDS = 60;
/** Reading the audit's samples of three days takes a while. */
const QUERY_DEADLINE_MS = 15_000;
const INTERVAL_MS = 10_000;
/** A slow pass over the recent hours is repeated less often, so that counting takes a small part of the time. */
const PAUSE_FACTOR = 50;
const MAX_INTERVAL_MS = 120_000;
/** Every pass computes the current and the previous hour. */
const RECENT_HOURS = 2;
/**
 * Every five minutes a pass computes as many hours as topics keep items: what ClickHouse missed while it was
 * unavailable is archived later, and audits and gaps concern hours before.
 */
const ALL_HOURS = 72;
const ALL_INTERVAL_MS = 300_000;

export interface CoverageDeps extends Omit<CoverageRollupDeps, 'db'> {
  pool: Pool;
  /** Resolves with true once the archive has its tables. */
  archiveReady: Promise<boolean>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** The least time between two passes; default 10 s. */
  intervalMs?: number;
  /** Called once for an unexpected error; the process must end. */
  fatal: (error: Error) => void;
}

/**
 * Keeps the stored coverage up to date, in one process at a time. While an engine is unavailable it waits; the hours of
 * that time are computed when everything is archived.
 */
export function startCoverage(deps: CoverageDeps): Running {
  const logger = deps.logger.child({ part: 'coverage' });
  const stopping = new AbortController();
  const running = computeUntilStopped({ ...deps, logger }, stopping.signal).catch((error: unknown) => {
    deps.fatal(toError(error));
  });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function computeUntilStopped(deps: CoverageDeps, signal: AbortSignal): Promise<void> {
  const { metrics, logger, clock, intervalMs = INTERVAL_MS } = deps;
  const db = withQueryDeadline(deps.pool, QUERY_DEADLINE_MS);
  const holder = randomUUID();
  const isReady = await Promise.race([deps.archiveReady, aborted(signal)]);
  if (!isReady) return;
  const rollup = new CoverageRollup({ ...deps, db });
  const outage = new OutageLog({ work: 'coverage', logger, metrics });
  let allAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const begun = clock();
    let isAllDue = false;
    try {
      if (await takeLease(db, { name: LEASE, holder, seconds: LEASE_SECONDS })) {
        isAllDue = begun - allAt >= ALL_INTERVAL_MS;
        const covered = await rollup.pass(begun, isAllDue ? ALL_HOURS : RECENT_HOURS, signal);
        if (isAllDue) {
          allAt = begun;
          reportCompleteness(metrics, covered);
        }
        await reportState({ ...deps, db }, begun);
      } else {
        clearReports(metrics);
        allAt = Number.NEGATIVE_INFINITY;
      }
      outage.recovered();
    } catch (error) {
      if (unavailableEngine(error) === undefined) throw error;
      outage.failed(error);
    }
    const pauseMs = isAllDue ? 0 : Math.min(PAUSE_FACTOR * (clock() - begun), MAX_INTERVAL_MS);
    await delay(Math.max(intervalMs, pauseMs), signal);
  }
  await releaseLease(db, { name: LEASE, holder }).catch((error: unknown) => {
    if (unavailableEngine(error) === undefined) throw error;
  });
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}

/** Exports the completeness of the newest hour that has one. */
function reportCompleteness(metrics: Metrics, covered: readonly CoveredHour[]): void {
  reportMissed(metrics, covered.slice(0, 24));
  const { crawlerCompleteness } = metrics;
  crawlerCompleteness.reset();
  const posts = covered.map(({ coverage }) => coverage.posts && postShare(coverage.posts)).find(isKnown);
  if (isKnown(posts)) crawlerCompleteness.set({ kind: 'posts', bound: 'share' }, posts);
  const comments = covered.map(({ coverage }) => coverage.comments).find(isKnown);
  if (!isKnown(comments)) return;
  for (const bound of ['share', 'low', 'high'] as const) {
    crawlerCompleteness.set({ kind: 'comments', bound }, comments[bound]);
  }
}

/** Comments are estimated where the audit knows the share that was seen. */
function reportMissed({ crawlerMissed }: Metrics, covered: readonly CoveredHour[]): void {
  crawlerMissed.reset();
  const walked = covered.flatMap(({ coverage: { posts } }) => posts ?? []);
  if (walked.length > 0) {
    crawlerMissed.set(
      { kind: 'posts' },
      walked.reduce((sum, { unread }) => sum + unread, 0),
    );
  }
  const audited = covered.flatMap(({ coverage: { comments, seen } }) => {
    const found = Object.values(seen).reduce((sum, source) => sum + source.comments, 0);
    return comments === null || comments.share === 0 ? [] : (found * (1 - comments.share)) / comments.share;
  });
  if (audited.length > 0) {
    crawlerMissed.set({ kind: 'comments' }, Math.round(audited.reduce((sum, missed) => sum + missed, 0)));
  }
}

async function reportState({ db, clickhouse, metrics }: CoverageDeps & { db: Queryable }, now: number): Promise<void> {
  const open = await countOpenGaps(db);
  metrics.crawlerGapsOpen.reset();
  for (const { source, open: gaps } of open) metrics.crawlerGapsOpen.set({ source }, gaps);
  const newest = await newestArchivedAt(clickhouse);
  if (newest !== undefined) metrics.crawlerNewestItemAge.set({ stage: 'archived' }, Math.max(0, now - newest) / 1000);
}

/** Another process exports them. */
function clearReports(metrics: Metrics): void {
  metrics.crawlerCompleteness.reset();
  metrics.crawlerMissed.reset();
  metrics.crawlerGapsOpen.reset();
  metrics.crawlerNewestItemAge.reset();
}

function isKnown<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
