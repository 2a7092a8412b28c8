import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

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

/** How far the matches and attempts of a monitor are counted. */
interface Limits {
  pending: number;
  failures: number;
}

const LIMITS: Limits = { pending: 1_000, failures: 10_000 };
/** For many monitors at once. */
const FEW: Limits = { pending: 1_000, failures: 0 };

export async function readDeliveryHealth(pool: Pool, monitorId: string): Promise<StoredDeliveryHealth> {
  return (await readHealth(pool, [monitorId], LIMITS)).get(monitorId)!;
}

/** The same of many monitors, by id, without `attemptFailures24h`. */
export function readDeliveryHealths(
  pool: Pool,
  monitorIds: readonly string[],
): Promise<Map<string, StoredDeliveryHealth>> {
  return readHealth(pool, monitorIds, FEW);
}

/**
 * Reads the state of deliveries at a bounded cost, however many matches and attempts a monitor has:
 * - the pending ones are counted in matches_pending_since, which holds nothing else, up to a limit;
 * - the first entry of matches_pending_since is the one that waits longest;
 * - delivery_attempts_outcomes has the attempts of each outcome by time: the last attempt is the latest of the three
 *   last entries, and the failures of a day are a range of two outcomes, counted up to a limit.
 */
async function readHealth(
  pool: Pool,
  monitorIds: readonly string[],
  limits: Limits,
): Promise<Map<string, StoredDeliveryHealth>> {
  const rows = await inIndexOrder(
    pool,
    (client) => readRows<StoredDeliveryHealth & { id: string }>(client)`
      WITH moment AS MATERIALIZED (SELECT service_now() AS now)
      SELECT monitor.id, moment.now AS "readAt",
        (
          SELECT count(*)::integer
          FROM (
            SELECT FROM matches m
            WHERE m.monitor_id = monitor.id AND m.delivery_status = 'pending'
            ORDER BY coalesce(m.resent_at, m.created_at)
            LIMIT ${limits.pending}
          ) AS counted
        ) AS pending,
        (
          SELECT coalesce(m.resent_at, m.created_at)
          FROM matches m
          WHERE m.monitor_id = monitor.id AND m.delivery_status = 'pending'
          ORDER BY coalesce(m.resent_at, m.created_at)
          LIMIT 1
        ) AS "oldestPendingAt",
        last.started_at AS "lastAttemptAt", last.status AS "lastStatus", last.error AS "lastError",
        last.delivered_at AS "lastDeliveredAt",
        (
          SELECT count(*)::integer
          FROM (
            SELECT
            FROM (VALUES ('pending'), ('failed')) AS outcome (name)
            CROSS JOIN LATERAL (
              SELECT FROM delivery_attempts a
              WHERE a.monitor_id = monitor.id AND a.delivery_status = outcome.name
                AND a.started_at > moment.now - interval '24 hours'
              ORDER BY a.started_at DESC
              LIMIT ${limits.failures}
            ) AS a
            LIMIT ${limits.failures}
          ) AS counted
        ) AS "attemptFailures24h"
      FROM moment
      CROSS JOIN unnest(${monitorIds}::text[]) AS monitor (id)
      LEFT JOIN LATERAL (
        SELECT a.started_at, a.status, a.error,
          max(a.started_at + a.duration_ms * interval '1 millisecond')
            FILTER (WHERE a.delivery_status = 'delivered') OVER () AS delivered_at
        FROM (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
        CROSS JOIN LATERAL (
          SELECT a.started_at, a.duration_ms, a.status, a.error, a.delivery_status
          FROM delivery_attempts a
          WHERE a.monitor_id = monitor.id AND a.delivery_status = outcome.name
          ORDER BY a.started_at DESC
          LIMIT 1
        ) AS a
        ORDER BY a.started_at DESC
        LIMIT 1
      ) AS last ON true`,
  );
  return new Map(rows.map(({ id, ...health }) => [id, health]));
}

/** The attempts that began in an hour; null where the hour has attempts that were not counted. */
export interface HourOfAttempts {
  /** Its start. */
  at: Date;
  delivered: number | null;
  /** Failed, to be tried again. */
  retried: number | null;
  /** Failed for good. */
  failed: number | null;
}

/** The most attempts of an outcome that are counted by hour: the newest. */
const MOST_COUNTED = 10_000;

/**
 * Counts the attempts of the last hours, the present one included, oldest first. Reads delivery_attempts_outcomes,
 * which has the attempts of each outcome by time, up to a limit.
 */
export async function readAttemptsByHour(pool: Pool, monitorId: string, hours: number): Promise<HourOfAttempts[]> {
  return inIndexOrder(
    pool,
    (client) => readRows<HourOfAttempts>(client)`
      WITH shown AS MATERIALIZED (
        SELECT date_bin('1 hour', (SELECT service_now()), 'epoch') - ago * interval '1 hour' AS at
        FROM generate_series(0, ${hours}::integer - 1) AS ago
      ), counted AS MATERIALIZED (
        SELECT outcome.name, date_bin('1 hour', a.started_at, 'epoch') AS at, count(*) AS attempts
        FROM (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
        CROSS JOIN LATERAL (
          SELECT a.started_at FROM delivery_attempts a
          WHERE a.monitor_id = ${monitorId} AND a.delivery_status = outcome.name
            AND a.started_at >= (SELECT min(at) FROM shown)
          ORDER BY a.started_at DESC
          LIMIT ${MOST_COUNTED}
        ) AS a
        GROUP BY 1, 2
      ), outcomes AS (
        SELECT shown.at, outcome.name,
          CASE WHEN shown.at > cut.at IS NOT false THEN coalesce(counted.attempts, 0) END AS attempts
        FROM shown
        CROSS JOIN (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
        LEFT JOIN (
          SELECT name, min(at) AS at FROM counted GROUP BY name HAVING sum(attempts) = ${MOST_COUNTED}
        ) AS cut ON cut.name = outcome.name
        LEFT JOIN counted ON counted.name = outcome.name AND counted.at = shown.at
      )
      SELECT at, min(attempts) FILTER (WHERE name = 'delivered') AS delivered,
        min(attempts) FILTER (WHERE name = 'pending') AS retried, min(attempts) FILTER (WHERE name = 'failed') AS failed
      FROM outcomes
      GROUP BY at
      ORDER BY at`,
  );
}
