import type { Queryable } from '../../postgres/pool.ts';

/** Which settled matches of a monitor are to be sent again; what is not named is not asked. */
export interface ResendChoice {
  seqs?: readonly number[] | undefined;
  statuses: readonly ('failed' | 'skipped' | 'delivered')[];
  /** Recorded then or later. */
  since?: Date | undefined;
}

/**
 * Queues settled matches again, from the first rung of the ladder, one after the other `paceMs` apart. What is pending
 * already stays as it is, and what the daily cap held back is never sent. Under the monitor's lock.
 *
 * @returns how many were queued; `limit`: there may be more
 */
export async function queueResends(
  db: Queryable,
  monitorId: string,
  choice: ResendChoice,
  { limit, paceMs }: { limit: number; paceMs: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `WITH chosen AS MATERIALIZED (
       SELECT seq
       FROM matches
       WHERE monitor_id = $1 AND delivery_status = ANY ($2) AND NOT suppressed
         AND ($3::bigint[] IS NULL OR seq = ANY ($3)) AND ($4::timestamptz IS NULL OR created_at >= $4)
       ORDER BY seq
       LIMIT $5
       FOR UPDATE
     ), numbered AS (
       SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS ordinal FROM chosen
     ), moment AS MATERIALIZED (
       SELECT service_now() AS now
     )
     UPDATE matches m
     SET delivery_status = 'pending', ladder_step = 0, resent = true, delivered_at = NULL, lease_token = NULL, lease_until = NULL,
       next_attempt_at = now + ordinal * $6 * interval '1 millisecond'
     FROM numbered, moment
     WHERE m.monitor_id = $1 AND m.seq = numbered.seq`,
    [monitorId, choice.statuses, choice.seqs ?? null, choice.since ?? null, limit, paceMs],
  );
  return rowCount ?? 0;
}

/** Matches that an account has sent again today (UTC), and the seconds until that counts anew. */
export async function readResends(db: Queryable, accountId: string): Promise<{ today: number; secondsLeft: number }> {
  const { rows } = await db.query<{ today: number; seconds_left: number }>(
    `WITH moment AS MATERIALIZED (SELECT service_now() AT TIME ZONE 'UTC' AS now)
     SELECT CASE WHEN l.resend_day >= now::date THEN l.day_resends ELSE 0 END AS today,
       greatest(1, ceil(extract(epoch FROM now::date + 1 - now)))::integer AS seconds_left
     FROM account_limits l, moment
     WHERE l.account_id = $1`,
    [accountId],
  );
  return { today: rows[0]?.today ?? 0, secondsLeft: rows[0]?.seconds_left ?? 1 };
}

/** Counts matches that are sent again; false, and nothing is counted, when the day would have more than `most`. */
export async function countResends(
  db: Queryable,
  accountId: string,
  { count, most }: { count: number; most: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH today AS MATERIALIZED (SELECT (service_now() AT TIME ZONE 'UTC')::date AS day)
     UPDATE account_limits l
     SET day_resends = CASE WHEN l.resend_day >= today.day THEN l.day_resends ELSE 0 END + $2,
       resend_day = greatest(l.resend_day, today.day)
     FROM today
     WHERE l.account_id = $1 AND CASE WHEN l.resend_day >= today.day THEN l.day_resends ELSE 0 END + $2 <= $3`,
    [accountId, count, most],
  );
  return rowCount === 1;
}
