import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows } from '../postgres/sql.ts';
import { BEYOND_LEASES } from '../maintenance/leases.ts';

/** Which settled matches of a monitor to send again. Absent fields do not restrict the choice. */
export interface ResendChoice {
  seqs?: readonly number[] | undefined;
  statuses: readonly ('failed' | 'skipped' | 'delivered')[];
  /** Only matches recorded at this time or later. */
  since?: Date | undefined;
}

/**
 * Queues settled matches again, `paceMs` apart, starting at the first retry step. Pending matches stay as they are, and
 * suppressed matches are never sent. Requires the monitor's lock.
 *
 * @returns how many were queued; when it is `limit`, there may be more
 */
export async function queueResends(
  db: Queryable,
  monitorId: string,
  choice: ResendChoice,
  { limit, paceMs }: { limit: number; paceMs: number },
): Promise<number> {
  return execute(db)`
    WITH chosen AS MATERIALIZED (
      SELECT seq
      FROM matches
      WHERE monitor_id = ${monitorId} AND delivery_status = ANY (${choice.statuses}) AND NOT suppressed
        AND (${choice.seqs ?? null}::bigint[] IS NULL OR seq = ANY (${choice.seqs ?? null})) AND
          (${choice.since ?? null}::timestamptz IS NULL OR created_at >= ${choice.since ?? null})
      ORDER BY seq
      LIMIT ${limit}
      FOR UPDATE
    ), numbered AS (
      SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS ordinal FROM chosen
    ), moment AS MATERIALIZED (
      SELECT service_now() AS now
    )
    UPDATE matches m
    SET delivery_status = 'pending', ladder_step = 0, resent = true, resent_at = now, delivered_at = NULL,
      lease_token = NULL,
      lease_until = NULL, next_attempt_at = now + ordinal * ${paceMs} * interval '1 millisecond'
    FROM numbered, moment
    WHERE m.monitor_id = ${monitorId} AND m.seq = numbered.seq`;
}

/**
 * Makes matches that wait for a later attempt due now. Their attempts and retries are those that they had, and leased
 * matches stay as they are. Requires the monitor's lock.
 *
 * @returns how many; when it is `limit`, there may be more
 */
export async function hastenPending(
  db: Queryable,
  monitorId: string,
  since: Date | undefined,
  limit: number | undefined,
): Promise<number> {
  return execute(db)`
    WITH chosen AS MATERIALIZED (
      SELECT seq
      FROM matches
      WHERE monitor_id = ${monitorId} AND delivery_status = 'pending' AND NOT suppressed
        AND next_attempt_at > (SELECT service_now()) AND (${since ?? null}::timestamptz IS NULL OR created_at >=
          ${since ?? null})
        AND (lease_until IS NULL OR lease_until <= (SELECT service_now())
          OR lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
      ORDER BY seq
      LIMIT ${limit ?? null}
      FOR UPDATE
    )
    UPDATE matches m
    SET next_attempt_at = (SELECT service_now())
    FROM chosen
    WHERE m.monitor_id = ${monitorId} AND m.seq = chosen.seq`;
}

/** Whether a match among those chosen, whatever its status, has yet to be delivered. */
export async function hasPending(
  db: Queryable,
  monitorId: string,
  { seqs, since }: Pick<ResendChoice, 'seqs' | 'since'>,
): Promise<boolean> {
  return isChanged(db)`
    SELECT FROM matches
    WHERE monitor_id = ${monitorId} AND delivery_status = 'pending' AND NOT suppressed
      AND (${seqs ?? null}::bigint[] IS NULL OR seq = ANY (${seqs ?? null})) AND (${since ?? null}::timestamptz IS NULL
        OR created_at >= ${since ?? null})
    LIMIT 1`;
}

/** Reads how many matches an account has resent today (UTC), and the seconds until the count starts again. */
export async function readResends(db: Queryable, accountId: string): Promise<{ today: number; secondsLeft: number }> {
  const rows = await readRows<{ today: number; seconds_left: number }>(db)`
    WITH moment AS MATERIALIZED (SELECT service_now() AT TIME ZONE 'UTC' AS now)
    SELECT CASE WHEN l.resend_day >= now::date THEN l.day_resends ELSE 0 END AS today,
      greatest(1, ceil(extract(epoch FROM now::date + 1 - now)))::integer AS seconds_left
    FROM account_limits l, moment
    WHERE l.account_id = ${accountId}`;
  return { today: rows[0]?.today ?? 0, secondsLeft: rows[0]?.seconds_left ?? 1 };
}

/** Counts resent matches of today. Returns false, and counts nothing, when the day would have more than `limit`. */
export async function countResends(
  db: Queryable,
  accountId: string,
  { count, limit }: { count: number; limit: number },
): Promise<boolean> {
  return isChanged(db)`
    WITH today AS MATERIALIZED (SELECT (service_now() AT TIME ZONE 'UTC')::date AS day)
    UPDATE account_limits l
    SET day_resends = CASE WHEN l.resend_day >= today.day THEN l.day_resends ELSE 0 END + ${count},
      resend_day = greatest(l.resend_day, today.day)
    FROM today
    WHERE l.account_id = ${accountId} AND CASE WHEN l.resend_day >= today.day THEN l.day_resends ELSE 0 END + ${count}
      <= ${limit}`;
}
