import type { Queryable } from '../../postgres/pool.ts';

/** What another process last said. */
export interface StoredReport {
  report: unknown;
  ageMs: number;
}

/**
 * Stores the report of a process and reads those that the others made within `maxAgeMs`, in one statement. What is ten
 * times older is deleted on the way, unless somebody else is at it.
 *
 * @param timeoutMs the client gives up after so long, whatever the server does
 */
export async function exchangeReports(
  db: Queryable,
  given: { processId: string; report: unknown; maxAgeMs: number; timeoutMs: number },
): Promise<StoredReport[]> {
  const { processId, report, maxAgeMs, timeoutMs } = given;
  const question = {
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
  const { rows } = await db.query<StoredReport>(question);
  return rows;
}
