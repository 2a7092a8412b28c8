import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

export interface StoredReport {
  report: unknown;
  ageMs: number;
}

/**
 * Stores the report of a process and reads those of the others that are at most `maxAgeMs` old. Reports that are ten
 * times older are deleted.
 *
 * @param options.timeoutMs the client gives up after this time, whatever the server does
 */
export async function exchangeReports(
  db: Queryable,
  options: { processId: string; report: unknown; maxAgeMs: number; timeoutMs: number },
): Promise<StoredReport[]> {
  const { processId, report, maxAgeMs, timeoutMs } = options;
  const query = {
    text: `
      WITH stored AS (
        INSERT INTO budget_reports (process_id, reported_at, report)
        VALUES ($1, service_now(), $2)
        ON CONFLICT (process_id) DO UPDATE SET reported_at = excluded.reported_at, report = excluded.report
      ), deleted AS (
        DELETE FROM budget_reports
        WHERE process_id IN (
          SELECT process_id FROM budget_reports
          WHERE reported_at < (SELECT service_now()) - 10 * $3 * interval '1 millisecond' AND process_id <> $1
          FOR UPDATE SKIP LOCKED
        )
      )
      SELECT report, greatest(0, extract(epoch FROM (SELECT service_now()) - reported_at) * 1000)::float8 AS "ageMs"
      FROM budget_reports
      WHERE process_id <> $1 AND reported_at > (SELECT service_now()) - $3 * interval '1 millisecond'`,
    values: [processId, JSON.stringify(report), maxAgeMs],
    query_timeout: timeoutMs,
  };
  const { rows } = await db.query<StoredReport>(query);
  return rows;
}

export interface LaneCalls {
  lane: string;
  /** Calls that were made. */
  taken: number;
  /** Times that a call was asked for and not made, because nothing was left for the lane. */
  refused: number;
}

export type HourCalls = LaneCalls & { hour: Date };

/** If the answer is lost, repeating it counts them twice. */
export async function addForumCalls(db: Queryable, calls: readonly HourCalls[]): Promise<void> {
  await execute(db)`
    INSERT INTO forum_calls AS c (hour, lane, taken, refused)
    SELECT hour, lane, sum(taken), sum(refused)
      FROM json_to_recordset(${JSON.stringify(calls)})
           AS added (hour timestamptz, lane text, taken bigint, refused bigint)
     GROUP BY hour, lane
     ORDER BY hour, lane COLLATE "C"
    ON CONFLICT (hour, lane) DO UPDATE
       SET taken = c.taken + excluded.taken, refused = c.refused + excluded.refused`;
}

/** The calls of the hours that begin from `from` until before `to`. */
export async function readForumCalls(db: Queryable, from: Date, to: Date): Promise<HourCalls[]> {
  return readRows<HourCalls>(db)`
    SELECT hour, lane, taken, refused FROM forum_calls WHERE hour >= ${from} AND hour < ${to} ORDER BY hour, lane`;
}
