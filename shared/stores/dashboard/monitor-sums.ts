import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** Reads how many matches each of an account's monitors has since 00:00 UTC, by id. Those without any are absent. */
export async function readMatchesToday(db: Queryable, accountId: string): Promise<Map<string, number>> {
  const rows = await readRows<{ id: string; matches: number }>(db)`
    SELECT m.id, sum(d.matches) AS matches
    FROM monitors m
    JOIN monitor_days d ON d.monitor_id = m.id AND d.day >= ((SELECT service_now()) AT TIME ZONE 'UTC')::date
    WHERE m.account_id = ${accountId} AND m.status <> 'deleted'
    GROUP BY m.id`;
  return new Map(rows.map(({ id, matches }) => [id, matches]));
}

export interface MonitorDay {
  /** UTC, as 2026-01-31. */
  day: string;
  /** Without suppressed ones. */
  matches: number;
  suppressed: number;
}

/** Reads a monitor's counts of the last days, today included, oldest first. Days without matches have zeros. */
export async function readMonitorMatchesByDay(db: Queryable, monitorId: string, days: number): Promise<MonitorDay[]> {
  return readRows<MonitorDay>(db)`
    WITH today AS (SELECT ((SELECT service_now()) AT TIME ZONE 'UTC')::date AS day)
    SELECT (today.day - ago)::text AS day, coalesce(d.matches, 0) AS matches, coalesce(d.suppressed, 0) AS suppressed
    FROM today
    CROSS JOIN generate_series(0, ${days}::integer - 1) AS ago
    LEFT JOIN monitor_days d ON d.monitor_id = ${monitorId} AND d.day = today.day - ago
    ORDER BY ago DESC`;
}

/** Reads which terms the newest matches of a monitor have, and how many of them each, the most frequent first. */
export async function readMatchesByTerm(
  db: Queryable,
  monitorId: string,
  { newest, limit }: { newest: number; limit: number },
): Promise<{ term: string; matches: number }[]> {
  return readRows<{ term: string; matches: number }>(db)`
    SELECT term, count(*) AS matches
    FROM (SELECT matched_terms FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT ${newest}) AS newest
    CROSS JOIN LATERAL unnest(matched_terms) AS term
    GROUP BY term
    ORDER BY matches DESC, term
    LIMIT ${limit}`;
}
