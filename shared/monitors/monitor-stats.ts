import type { Queryable } from '../postgres/pool.ts';
import { readOne } from '../postgres/sql.ts';

export interface StoredMonitorStats {
  matchesToday: number;
  suppressedToday: number;
  suppressedNotStored: number;
  matches7d: number;
  deliveryFailures24h: number;
}

/** Matches come from the daily counters; an index has the failed attempts. */
export async function readMonitorStats(db: Queryable, monitorId: string): Promise<StoredMonitorStats> {
  return readOne<StoredMonitorStats>(db)`
    WITH today AS (SELECT ((SELECT service_now()) AT TIME ZONE 'UTC')::date AS day)
    SELECT coalesce(sum(d.matches) FILTER (WHERE d.day >= today.day), 0) AS "matchesToday",
           coalesce(sum(d.suppressed) FILTER (WHERE d.day >= today.day), 0) AS "suppressedToday",
           coalesce(sum(d.suppressed_not_stored) FILTER (WHERE d.day >= today.day), 0)::bigint AS "suppressedNotStored",
           coalesce(sum(d.matches), 0) AS "matches7d",
           (SELECT count(*)
            FROM delivery_attempts a
            WHERE a.monitor_id = ${monitorId} AND a.delivery_status = 'failed'
              AND a.started_at > (SELECT service_now()) - interval '24 hours') AS "deliveryFailures24h"
    FROM today
    LEFT JOIN monitor_days d ON d.monitor_id = ${monitorId} AND d.day > today.day - 7`;
}
