import type { Queryable } from '../postgres/pool.ts';

/** Which settled matches of a monitor are to be sent again; what is not named is not asked. */
export interface ResendChoice {
  seqs?: readonly number[] | undefined;
  statuses: readonly ('failed' | 'skipped' | 'delivered')[];
  /** Recorded then or later. */
  since?: Date | undefined;
}

/**
 * Queues settled matches again, from the first rung of the ladder, one after the other `paceMs` apart. What is pending already stays as it is, and
 * what the daily cap held back is never sent. Under the monitor's lock.
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
     ), placed AS (
       SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS place FROM chosen
     ), moment AS MATERIALIZED (
       SELECT service_now() AS now
     )
     UPDATE matches m
     SET delivery_status = 'pending', ladder_step = 0, resent = true, delivered_at = NULL, lease_token = NULL, lease_until = NULL,
       next_attempt_at = now + place * $6 * interval '1 millisecond'
     FROM placed, moment
     WHERE m.monitor_id = $1 AND m.seq = placed.seq`,
    [monitorId, choice.statuses, choice.seqs ?? null, choice.since ?? null, limit, paceMs],
  );
  return rowCount ?? 0;
}
