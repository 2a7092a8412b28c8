import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool } from '../postgres/pool.ts';
import { readOne } from '../postgres/sql.ts';

/** How the deliveries of a monitor go, over the attempts that are kept (30 days). */
export interface StoredDeliveryHealth {
  /** Time of the service when it was read. */
  readAt: Date;
  /** Counted up to `MAX_PENDING`. */
  pending: number;
  /** Since when the pending match that waits longest has waited: since it was recorded, or queued again. */
  oldestPendingAt: Date | null;
  /** The attempt that began last; all null without any. `lastStatus` is 0 when there was no answer. */
  lastAttemptAt: Date | null;
  lastStatus: number | null;
  lastError: string | null;
  lastDeliveredAt: Date | null;
  /** Attempts that began in the last 24 hours and failed, whether or not they are retried. Up to `MAX_FAILURES`. */
  attemptFailures24h: number;
}

export const MAX_PENDING = 1_000;
export const MAX_FAILURES = 10_000;

/**
 * Reads the state of a monitor's deliveries at a bounded cost, however many matches and attempts it has:
 * - the pending ones are counted in matches_pending_since, which holds nothing else, up to a limit;
 * - the first entry of matches_pending_since is the one that waits longest;
 * - delivery_attempts_outcomes has the attempts of each outcome by time: the last attempt is the latest of the three
 *   last entries, and the failures of a day are a range of two outcomes, counted up to a limit.
 */
export async function readDeliveryHealth(pool: Pool, monitorId: string): Promise<StoredDeliveryHealth> {
  return inIndexOrder(
    pool,
    (client) => readOne<StoredDeliveryHealth>(client)`
      WITH moment AS MATERIALIZED (SELECT service_now() AS now),
      ended AS MATERIALIZED (
        SELECT a.*
        FROM (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
        CROSS JOIN LATERAL (
          SELECT a.started_at, a.duration_ms, a.status, a.error, a.delivery_status
          FROM delivery_attempts a
          WHERE a.monitor_id = ${monitorId} AND a.delivery_status = outcome.name
          ORDER BY a.started_at DESC
          LIMIT 1
        ) AS a
      )
      SELECT moment.now AS "readAt",
        (
          SELECT count(*)::integer
          FROM (
            SELECT FROM matches m
            WHERE m.monitor_id = ${monitorId} AND m.delivery_status = 'pending'
            ORDER BY coalesce(m.resent_at, m.created_at)
            LIMIT ${MAX_PENDING}
          ) AS counted
        ) AS pending,
        (
          SELECT coalesce(m.resent_at, m.created_at)
          FROM matches m
          WHERE m.monitor_id = ${monitorId} AND m.delivery_status = 'pending'
          ORDER BY coalesce(m.resent_at, m.created_at)
          LIMIT 1
        ) AS "oldestPendingAt",
        last.started_at AS "lastAttemptAt", last.status AS "lastStatus", last.error AS "lastError",
        (
          SELECT started_at + duration_ms * interval '1 millisecond' FROM ended WHERE delivery_status = 'delivered'
        ) AS "lastDeliveredAt",
        (
          SELECT count(*)::integer
          FROM (
            SELECT
            FROM (VALUES ('pending'), ('failed')) AS outcome (name)
            CROSS JOIN LATERAL (
              SELECT FROM delivery_attempts a
              WHERE a.monitor_id = ${monitorId} AND a.delivery_status = outcome.name
                AND a.started_at > (SELECT now FROM moment) - interval '24 hours'
              ORDER BY a.started_at DESC
              LIMIT ${MAX_FAILURES}
            ) AS a
            LIMIT ${MAX_FAILURES}
          ) AS counted
        ) AS "attemptFailures24h"
      FROM moment
      LEFT JOIN LATERAL (SELECT * FROM ended ORDER BY started_at DESC LIMIT 1) AS last ON true`,
  );
}
