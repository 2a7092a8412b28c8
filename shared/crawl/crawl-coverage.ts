import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';
import { GAP } from './crawl-gaps.ts';
import type { UnreadStretch } from './rules/coverage.ts';

export interface StoredCoverage {
  /** The start of the hour. */
  hour: Date;
  /** The rows of the hour in the archive when its items were counted, repeated ones included. */
  archivedRows: number;
  /** A HourCoverage (shared/crawl/rules) of this or an earlier version. */
  coverage: unknown;
  /** Calls a second that the forum allowed; null when that was not known. */
  callsPerSecond: number | null;
}

/** Stores the coverage of hours, in place of what was stored of them. A rate that is not known leaves the last one. */
export async function saveCoverageHours(db: Queryable, hours: readonly StoredCoverage[]): Promise<void> {
  await execute(db)`
    INSERT INTO coverage_hours AS c (hour, archived_rows, coverage, calls_per_second, computed_at)
    SELECT hour, archived_rows, coverage, calls_per_second, service_now()
      FROM unnest(${hours.map(({ hour }) => hour)}::timestamptz[],
        ${hours.map(({ archivedRows }) => archivedRows)}::bigint[],
        ${hours.map(({ coverage }) => JSON.stringify(coverage))}::jsonb[],
        ${hours.map(({ callsPerSecond }) => callsPerSecond)}::float8[])
           AS computed (hour, archived_rows, coverage, calls_per_second)
     ORDER BY hour
    ON CONFLICT (hour) DO UPDATE
       SET archived_rows = excluded.archived_rows, coverage = excluded.coverage, computed_at = excluded.computed_at,
           calls_per_second = coalesce(excluded.calls_per_second, c.calls_per_second)`;
}

/**
 * The first stored hour in which the forum showed an item, in milliseconds since 1970; undefined before the first. An
 * hour in which the forum only failed, or only a dump file was replayed, is also stored.
 */
export async function firstCoveredHour(db: Queryable): Promise<number | undefined> {
  const rows = await readRows<{ hour: Date | null }>(db)`
    SELECT min(hour) AS hour FROM coverage_hours WHERE (coverage -> 'seen') - 'replay'::text <> '{}'::jsonb`;
  return rows[0]?.hour?.getTime();
}

export type ReadCoverage = StoredCoverage & { computedAt: Date };

/** The coverage of the hours that begin from `from` until before `to`, as far as it is stored. */
export async function readCoverageHours(db: Queryable, from: Date, to: Date): Promise<ReadCoverage[]> {
  return readRows<ReadCoverage>(db)`
    SELECT hour, archived_rows AS "archivedRows", coverage, calls_per_second AS "callsPerSecond",
           computed_at AS "computedAt"
      FROM coverage_hours WHERE hour >= ${from} AND hour < ${to} ORDER BY hour`;
}

/** The hours that are stored of those that begin from `from` until before `to`, and when each was last stored. */
export async function readCoverageTimes(
  db: Queryable,
  from: Date,
  to: Date,
): Promise<Pick<ReadCoverage, 'hour' | 'computedAt'>[]> {
  return readRows<Pick<ReadCoverage, 'hour' | 'computedAt'>>(db)`
    SELECT hour, computed_at AS "computedAt" FROM coverage_hours WHERE hour >= ${from} AND hour < ${to} ORDER BY hour`;
}

/** The coverage of these hours, as far as it is stored. */
export async function readCoverageOf(db: Queryable, hours: readonly Date[]): Promise<ReadCoverage[]> {
  return readRows<ReadCoverage>(db)`
    SELECT hour, archived_rows AS "archivedRows", coverage, calls_per_second AS "callsPerSecond",
           computed_at AS "computedAt"
      FROM coverage_hours WHERE hour = ANY (${hours}::timestamptz[]) ORDER BY hour`;
}

export interface HourGaps {
  hour: Date;
  opened: number;
  closed: number;
}

/** The stretches of post ids that were noticed since `from`, and are open or were given up. */
export async function readUnreadStretches(db: Queryable, from: Date): Promise<UnreadStretch[]> {
  const rows = await readRows<{ gap: UnreadStretch }>(db)`
    SELECT ${GAP}
      FROM crawl_gaps
     WHERE opened_at >= ${from} AND source = 'post-ids' AND outcome IS DISTINCT FROM 'filled'`;
  return rows.map(({ gap }) => gap);
}

/**
 * When the walk over post ids was last answered for new ids; undefined when nobody ever walked them. Of a position that
 * an earlier version saved, which does not tell, it is the time when it was saved.
 */
export async function lastPostIdWalk(db: Queryable): Promise<Date | undefined> {
  const rows = await readRows<{ at: Date | null }>(db)`
    SELECT CASE WHEN position ? 'walkedAt' THEN to_timestamp((position ->> 'walkedAt')::float8 / 1000)
                ELSE updated_at END AS at
      FROM crawl_cursors WHERE source = 'post-ids'`;
  return rows[0]?.at ?? undefined;
}

export async function countRemovals(db: Queryable, from: Date): Promise<{ hour: Date; count: number }[]> {
  return readRows<{ hour: Date; count: number }>(db)`
    SELECT date_trunc('hour', at) AS hour, count(*) AS count FROM removed_things WHERE at >= ${from} GROUP BY 1`;
}

/** The hours that begin from `from` until before `to`. */
export async function countGapsByHour(db: Queryable, from: Date, to: Date): Promise<HourGaps[]> {
  return readRows<HourGaps>(db)`
    SELECT hour, sum(opened)::int AS opened, sum(closed)::int AS closed
      FROM (SELECT date_trunc('hour', opened_at) AS hour, count(*) AS opened, 0 AS closed
              FROM crawl_gaps WHERE opened_at >= ${from} AND opened_at < ${to} GROUP BY 1
             UNION ALL
            SELECT date_trunc('hour', filled_at), 0, count(*)
              FROM crawl_gaps WHERE filled_at >= ${from} AND filled_at < ${to} GROUP BY 1) AS counted
     GROUP BY hour ORDER BY hour`;
}

/** Counts the gaps that were open at a time: opened before it, and not closed before it. */
export async function countGapsOpenAt(db: Queryable, at: Date): Promise<number> {
  const rows = await readRows<{ open: number }>(db)`
    SELECT (SELECT count(*) FROM crawl_gaps WHERE filled_at IS NULL AND opened_at < ${at})
         + (SELECT count(*) FROM crawl_gaps WHERE filled_at >= ${at} AND opened_at < ${at}) AS open`;
  return rows[0]?.open ?? 0;
}

export async function countOpenGaps(db: Queryable): Promise<{ source: string; open: number }[]> {
  return readRows<{ source: string; open: number }>(db)`
    SELECT source, count(*) AS open FROM crawl_gaps WHERE filled_at IS NULL GROUP BY source ORDER BY source`;
}

/** A thread that the audit read completely. */
export interface StoredAuditSample {
  /** Begin of the time that the sample speaks for: an hour, or a part of one. */
  hour: Date;
  postId: string;
  /** One over the probability with which the thread was chosen. */
  weight: number;
  /** Its comments that had been seen before the audit. */
  seen: number;
  /** All its comments. */
  total: number;
}

/** A thread counts once for each time, as it was stored first. */
export async function saveAuditSamples(db: Queryable, rows: readonly StoredAuditSample[]): Promise<void> {
  await execute(db)`
    INSERT INTO audit_samples (hour, post_id, weight, seen, total)
    SELECT DISTINCT ON (hour, post_id COLLATE "C") hour, post_id, weight, seen, total
      FROM unnest(${rows.map((row) => row.hour)}::timestamptz[], ${rows.map((row) => row.postId)}::text[],
        ${rows.map((row) => row.weight)}::float8[], ${rows.map((row) => row.seen)}::int[],
        ${rows.map((row) => row.total)}::int[])
           WITH ORDINALITY AS sample (hour, post_id, weight, seen, total, n)
     ORDER BY hour, post_id COLLATE "C", n
    ON CONFLICT (hour, post_id) DO NOTHING`;
}

/** The samples of the times that begin from `from` until before `to`. */
export async function readAuditSamples(db: Queryable, from: Date, to: Date): Promise<StoredAuditSample[]> {
  return readRows<StoredAuditSample>(db)`
    SELECT hour, post_id AS "postId", weight, seen, total
      FROM audit_samples WHERE hour >= ${from} AND hour < ${to} ORDER BY hour, post_id`;
}
