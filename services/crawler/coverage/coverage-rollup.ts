import { isDeepStrictEqual } from 'node:util';
import { LATE_AFTER_MS } from '../../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import {
  countArchivedRows,
  countPostsByCreation,
  firstSightAt,
  measureArchivedHour,
} from '../../../shared/crawl/archived-hours.ts';
import type { ArchivedGroup } from '../../../shared/crawl/archived-hours.ts';
import {
  countRemovals,
  firstCoveredHour,
  lastPostIdWalk,
  readAuditSamples,
  readCoverageHours,
  readUnreadStretches,
  saveCoverageHours,
} from '../../../shared/crawl/crawl-coverage.ts';
import type { StoredAuditSample, StoredCoverage } from '../../../shared/crawl/crawl-coverage.ts';
import {
  estimateCompleteness,
  hourCoverage,
  LAG_GAMMA,
  lagQuantiles,
  postShare,
  SHORTEST_LAG_SECONDS,
  unreadPostsByHour,
} from '../../../shared/crawl/rules/coverage.ts';
import type { HourCoverage } from '../../../shared/crawl/rules/coverage.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';

const HOUR_MS = 3_600_000;
/** The walk over post ids asks for new ids every few seconds; after this time without an answer no process walks. */
const WALK_SILENT_MS = 300_000;
const NOTHING: HourCoverage = { seen: {}, late: 0, lags: {}, tombstones: 0, posts: null, comments: null };
const LAGS = { gamma: LAG_GAMMA, shortest: SHORTEST_LAG_SECONDS, lateAfterMs: LATE_AFTER_MS };

export interface CoverageRollupDeps {
  db: Queryable;
  clickhouse: ClickHouseClient;
  /** Calls a second that the forum allows; undefined while that is not known. */
  allowedPerSecond: () => number | undefined;
}

/** An hour with its coverage, newest first in results. */
export interface CoveredHour {
  /** Its start in milliseconds since 1970. */
  hour: number;
  coverage: HourCoverage;
}

/** What the engines know of the hours of a pass, by the hour's start. */
interface Known {
  stored: Map<number, StoredCoverage>;
  archivedRows: Map<number, number>;
  postsFound: Map<number, number>;
  postsUnread: Map<number, number>;
  removals: Map<number, number>;
  samples: Map<number, StoredAuditSample[]>;
  walkedAt: number;
  /** When the service first ran, if that is less than four days ago; the end of the pass while it has seen nothing. */
  startedAt: number | undefined;
}

/**
 * Computes the coverage of the last hours and stores what changed in Postgres, which serves it, and in ClickHouse for
 * analysts. The items of an hour are counted again only when the number of its archived rows has changed since: that
 * is so for the current hour, and for hours that were archived late because an engine was unavailable. Repeating a
 * pass, or running it in two processes at once, changes nothing.
 */
export class CoverageRollup {
  private readonly deps: CoverageRollupDeps;

  constructor(deps: CoverageRollupDeps) {
    this.deps = deps;
  }

  /**
   * Computes the hour of `now` (milliseconds since 1970) and those before it, `hours` in all.
   *
   * @returns their coverage, newest first
   */
  async pass(now: number, hours: number, signal?: AbortSignal): Promise<CoveredHour[]> {
    const current = Math.floor(now / HOUR_MS) * HOUR_MS;
    const known = await this.readKnown(current - (hours - 1) * HOUR_MS, current + HOUR_MS);
    const covered: CoveredHour[] = [];
    for (let hour = current; covered.length < hours && signal?.aborted !== true; hour -= HOUR_MS) {
      const callsPerSecond = hour === current ? (this.deps.allowedPerSecond() ?? null) : null;
      covered.push({ hour, coverage: await this.cover(hour, now, known, callsPerSecond) });
    }
    return covered;
  }

  private async readKnown(from: number, to: number): Promise<Known> {
    const { db, clickhouse } = this.deps;
    const [first, end] = [new Date(from), new Date(to)];
    const [archived, posts, stored, removals, stretches, samples, walkedAt, firstSight, firstHour] = await Promise.all([
      countArchivedRows(clickhouse, from),
      countPostsByCreation(clickhouse, from),
      readCoverageHours(db, first, end),
      countRemovals(db, first),
      readUnreadStretches(db, first),
      readAuditSamples(db, first, end),
      lastPostIdWalk(db),
      firstSightAt(clickhouse),
      firstCoveredHour(db),
    ]);
    return {
      stored: new Map(stored.map((row) => [row.hour.getTime(), row])),
      archivedRows: new Map(archived.map(({ hour, count }) => [hour, count])),
      postsFound: new Map(posts.map(({ hour, count }) => [hour, count])),
      postsUnread: unreadPostsByHour(stretches),
      removals: new Map(removals.map(({ hour, count }) => [hour.getTime(), count])),
      samples: Map.groupBy(samples, ({ hour }) => Math.floor(hour.getTime() / HOUR_MS) * HOUR_MS),
      walkedAt: walkedAt?.getTime() ?? Number.NEGATIVE_INFINITY,
      startedAt: startOf(firstSight, firstHour, to),
    };
  }

  /** Computes an hour and stores it if it changed. */
  private async cover(hour: number, now: number, known: Known, callsPerSecond: number | null): Promise<HourCoverage> {
    const stored = known.stored.get(hour);
    // A row of an earlier version that cannot be read is computed again.
    const last = hourCoverage.safeParse(stored?.coverage).data;
    const archivedRows = known.archivedRows.get(hour) ?? 0;
    const isCounted = last !== undefined && stored?.archivedRows === archivedRows;
    const counted = isCounted
      ? { seen: last.seen, late: last.late, lags: last.lags }
      : countedItems(
          archivedRows === 0
            ? []
            : await measureArchivedHour(this.deps.clickhouse, hour, { ...LAGS, startedAt: known.startedAt }),
        );
    const coverage: HourCoverage = {
      ...counted,
      tombstones: known.removals.get(hour) ?? 0,
      posts: postsOf(hour, now, known) ?? last?.posts ?? null,
      comments: commentsOf(known.samples.get(hour) ?? []),
    };
    // Before the first start, or while nothing ran, nothing was measured.
    const isBlank = stored === undefined && hour + HOUR_MS <= now && isDeepStrictEqual(coverage, NOTHING);
    const isSame = isBlank || (isCounted && isDeepStrictEqual(coverage, last));
    if (isSame && (callsPerSecond === null || callsPerSecond === stored?.callsPerSecond)) return coverage;
    // ClickHouse first: if only its row is stored, the next pass finds the hour changed and stores both again.
    if (!isSame) {
      const values = [coverageRow(hour, coverage, now)];
      await this.deps.clickhouse.insert({ table: 'coverage_hours', values, format: 'JSONEachRow' });
    }
    await saveCoverageHours(this.deps.db, [{ hour: new Date(hour), archivedRows, coverage, callsPerSecond }]);
    return coverage;
  }
}

/**
 * When the service first ran: `end` if it has seen nothing yet. Undefined if it ran before the first sight that the
 * archive still knows: after a stop of many days that sight is not the one of the first run.
 */
function startOf(firstSight: number | undefined, firstHour: number | undefined, end: number): number | undefined {
  const hasRunBefore = firstHour !== undefined && firstHour < (firstSight ?? Infinity) - 2 * HOUR_MS;
  return hasRunBefore ? undefined : (firstSight ?? end);
}

function commentsOf(samples: readonly StoredAuditSample[]): HourCoverage['comments'] {
  const estimated = estimateCompleteness(samples);
  if (estimated === undefined) return null;
  const comments = samples.reduce((sum, { weight, total }) => sum + weight * total, 0);
  return { ...estimated, threads: samples.length, comments };
}

/**
 * The posts of an hour; undefined when the walk over post ids did not reach the end of the hour, or has stopped. The
 * first walk begins near the newest post, so it says nothing about the hours before the first start.
 */
function postsOf(hour: number, now: number, known: Known): HourCoverage['posts'] | undefined {
  if (hour + HOUR_MS <= (known.startedAt ?? Number.NEGATIVE_INFINITY)) return undefined;
  if (known.walkedAt < Math.min(now - WALK_SILENT_MS, hour + HOUR_MS)) return undefined;
  return { found: known.postsFound.get(hour) ?? 0, unread: Math.round(known.postsUnread.get(hour) ?? 0) };
}

/** Adds up the groups of an hour. The lags of the backlog and of items of dump files say nothing about this service. */
function countedItems(groups: readonly ArchivedGroup[]): Pick<HourCoverage, 'seen' | 'late' | 'lags'> {
  const seen: Record<string, { posts: number; comments: number }> = {};
  const lags: Record<string, number> = {};
  let late = 0;
  for (const group of groups) {
    const source = (seen[group.source] ??= { posts: 0, comments: 0 });
    source[group.kind === 'post' ? 'posts' : 'comments'] += group.items;
    late += group.late;
    if (group.source !== 'replay' && !group.isBacklog) lags[group.bucket] = (lags[group.bucket] ?? 0) + group.items;
  }
  return { seen, late, lags };
}

/** The row of an hour in the archive's table coverage_hours. Times in milliseconds since 1970. */
function coverageRow(hour: number, coverage: HourCoverage, computedAt: number): Record<string, unknown> {
  const { seen, late, lags, tombstones, posts, comments } = coverage;
  const bySource = Object.entries(seen);
  const [p50, p95, p99] = lagQuantiles(lags, [0.5, 0.95, 0.99]) ?? [null, null, null];
  return {
    hour: hour / 1000,
    posts: bySource.reduce((sum, [, counts]) => sum + counts.posts, 0),
    comments: bySource.reduce((sum, [, counts]) => sum + counts.comments, 0),
    late,
    removed: tombstones,
    items_by_source: Object.fromEntries(bySource.map(([source, counts]) => [source, counts.posts + counts.comments])),
    lag_p50_seconds: p50,
    lag_p95_seconds: p95,
    lag_p99_seconds: p99,
    post_completeness: posts === null ? null : (postShare(posts) ?? null),
    comment_completeness: comments?.share ?? null,
    comment_completeness_low: comments?.low ?? null,
    comment_completeness_high: comments?.high ?? null,
    audited_threads: comments?.threads ?? 0,
    computed_at: new Date(computedAt).toISOString(),
  };
}
