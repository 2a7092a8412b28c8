import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

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
