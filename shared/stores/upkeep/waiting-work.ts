import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';
import { countReadyDigests } from '../digests/due-digests.ts';

/** Work of the whole installation that waits, beside deliveries of matches. Ages in seconds; 0 without any. */
export interface WaitingWork {
  /** Runs that have not ended. */
  backfills: { waiting: number; working: number; cancelling: number; oldestSeconds: number };
  digests: { due: number; oldestSeconds: number };
  /** Mails of digests. */
  digestMails: number;
  events: { pending: number; oldestSeconds: number };
}

/** Bounds the time of each count; this number stands for it or more. */
const MOST_COUNTED = 5_000;

/** Counts for metrics, each over a bounded part of an index. */
export async function countWaitingWork(db: Queryable): Promise<WaitingWork> {
  const backfills = await countBackfills(db);
  const digests = await countReadyDigests(db, MOST_COUNTED);
  const { rows } = await db.query<{ mails: number; pending: number; oldestSeconds: number }>(
    `WITH pending AS (
       SELECT created_at FROM monitor_events WHERE delivery_status = 'pending' LIMIT $1
     )
     SELECT (SELECT count(*)::int FROM (SELECT FROM digest_mails WHERE outcome IS NULL LIMIT $1) AS waiting) AS mails,
            (SELECT count(*)::int FROM pending) AS pending,
            coalesce((SELECT extract(epoch FROM service_now() - min(created_at)) FROM pending), 0)::float8
              AS "oldestSeconds"`,
    [MOST_COUNTED],
  );
  const { mails, pending, oldestSeconds } = rows[0]!;
  return { backfills, digests, digestMails: mails, events: { pending, oldestSeconds } };
}

/** A monitor has at most one run that has not ended. */
async function countBackfills(db: Queryable): Promise<WaitingWork['backfills']> {
  const rows = await readRows<WaitingWork['backfills']>(db)`
    WITH clock AS MATERIALIZED (SELECT service_now() AS now), open AS (
      SELECT created_at, cancelled_at IS NOT NULL AS is_cancelled, coalesce(lease_until > now, false) AS is_leased
      FROM backfills, clock WHERE state = 'running' LIMIT ${MOST_COUNTED}
    )
    SELECT count(*) FILTER (WHERE NOT is_cancelled AND NOT is_leased)::int AS waiting,
           count(*) FILTER (WHERE NOT is_cancelled AND is_leased)::int AS working,
           count(*) FILTER (WHERE is_cancelled)::int AS cancelling,
           coalesce(extract(epoch FROM (SELECT now FROM clock) - min(created_at)), 0)::float8 AS "oldestSeconds"
    FROM open`;
  return rows[0]!;
}
