import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

/** Deliveries whose attempt is due, and those under way. */
export interface DueDeliveries {
  /** At most `MAX_DUE` of each of `MAX_MONITORS` monitors are counted. */
  due: number;
  /** How long the oldest of them has been due, in milliseconds; null without any. */
  oldestMs: number | null;
  /** Attempts under way now, among the oldest due deliveries. */
  underWay: number;
}

const MAX_MONITORS = 1_000;
const MAX_DUE = 100;

/** Reads a bounded part of those that wait, by a loose index scan as readDueMonitors. */
export async function countDueDeliveries(db: Queryable): Promise<DueDeliveries> {
  const rows = await readRows<DueDeliveries>(db)`
    WITH RECURSIVE walk AS (
      SELECT (
        SELECT m.monitor_id FROM matches m WHERE m.delivery_status = 'pending' ORDER BY m.monitor_id LIMIT 1
      ) AS monitor_id, 1 AS step
      UNION ALL
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > walk.monitor_id
        ORDER BY m.monitor_id LIMIT 1
      ), walk.step + 1
      FROM walk
      WHERE walk.monitor_id IS NOT NULL AND walk.step < ${MAX_MONITORS}
    ), oldest AS (
      SELECT o.next_attempt_at, coalesce(o.lease_until > (SELECT service_now()), false) AS is_under_way
        FROM walk
       CROSS JOIN LATERAL (
         SELECT m.next_attempt_at, m.lease_until FROM matches m
          WHERE m.monitor_id = walk.monitor_id AND m.delivery_status = 'pending'
            AND m.next_attempt_at <= (SELECT service_now())
          ORDER BY m.next_attempt_at LIMIT ${MAX_DUE}
       ) AS o
    )
    SELECT count(*) FILTER (WHERE NOT is_under_way) AS due,
           (extract(epoch FROM (SELECT service_now()) - min(next_attempt_at) FILTER (WHERE NOT is_under_way)) *
             1000)::float8
             AS "oldestMs",
           count(*) FILTER (WHERE is_under_way) AS "underWay"
      FROM oldest`;
  return rows[0] ?? { due: 0, oldestMs: null, underWay: 0 };
}
