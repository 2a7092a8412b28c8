import type { Queryable } from '../postgres/pool.ts';
import { readOne, readRows, sql } from '../postgres/sql.ts';
import { countReadyDigests } from '../notices/due-digests.ts';

export interface InstallationCounts {
  /** Deliveries that wait for their first or next attempt; `MOST_COUNTED` stands for that many or more. */
  pendingDeliveries: number;
  /** Milliseconds since the oldest of those counted was matched; null without any. */
  oldestPendingMs: number | null;
  /** Milliseconds for which one of those counted has been due, at most; null without any. */
  longestOverdueMs: number | null;
  /** Existing monitors by state: active, paused, paused_balance. */
  monitors: Record<string, number>;
  failingMonitors: number;
}

/** Bounds the time of a count: about 50 ms. */
export const MOST_COUNTED = 50_000;

/** Counts for metrics. A pass over all monitors; of pending deliveries over a bounded part of their index. */
export async function countInstallation(db: Queryable): Promise<InstallationCounts> {
  return readOne<InstallationCounts>(db)`
    WITH pending AS (
      SELECT CASE WHEN backfill THEN created_at ELSE entered_at END AS since, next_attempt_at
      FROM matches WHERE delivery_status = 'pending' LIMIT ${MOST_COUNTED}
    ), by_status AS (
      SELECT status, count(*) AS monitors FROM monitors WHERE status <> 'deleted' GROUP BY status
    )
    SELECT (SELECT count(*) FROM pending) AS "pendingDeliveries",
           (SELECT (extract(epoch FROM service_now() - min(since)) * 1000)::float8 FROM pending) AS "oldestPendingMs",
           (SELECT (extract(epoch FROM service_now() - min(next_attempt_at)) * 1000)::float8 FROM pending)
             AS "longestOverdueMs",
           (SELECT coalesce(json_object_agg(status, monitors), '{}') FROM by_status) AS monitors,
           (SELECT count(*) FROM monitor_health h JOIN monitors m ON m.id = h.monitor_id
             WHERE h.webhook_failing AND m.status <> 'deleted') AS "failingMonitors"`;
}

/**
 * How long the oldest snapshot has been open that keeps PostgreSQL from removing what was updated or deleted since: of
 * a transaction, of a prepared one, or of a replication slot that nobody uses (from PostgreSQL 17 on). In seconds; 0
 * without any. Sessions of other roles are hidden unless this one has pg_read_all_stats.
 */
export async function readOldestSnapshot(db: Queryable): Promise<number> {
  const { seconds } = await readOne<{ seconds: number }>(db)`
    SELECT coalesce(extract(epoch FROM clock_timestamp() - min(since)), 0)::float8 AS seconds
    FROM (
      SELECT xact_start AS since FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      UNION ALL
      SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
      UNION ALL
      SELECT (to_jsonb(s) ->> 'inactive_since')::timestamptz FROM pg_replication_slots s WHERE s.xmin IS NOT NULL
    ) AS snapshots`;
  return seconds;
}

export interface MovedCredits {
  kind: string;
  /** Given, above 0. */
  granted: number;
  /** Taken, above 0. */
  charged: number;
}

/** Rows younger than this may belong to a transaction that is not committed yet: no statement runs longer than 30 s. */
const SETTLED = sql`interval '60 seconds'`;
/** Bounds a step; the rest follows in the next one. */
const MOST_ENTRIES = 100_000;

/** 0 for an empty ledger. */
export async function lastLedgerEntry(db: Queryable): Promise<number> {
  const { id } = await readOne<{ id: number }>(db)`SELECT coalesce(max(id), 0) AS id FROM ledger_entries`;
  return id;
}

/**
 * Sums the rows of the ledger after `afterId` that are older than a minute, and so committed: each row is in exactly
 * one result of a chain of calls, each of which continues after the `lastId` of the one before.
 */
export async function sumMovedCredits(
  db: Queryable,
  afterId: number,
): Promise<{ moved: MovedCredits[]; lastId: number }> {
  const rows = await readRows<MovedCredits & { lastId: number }>(db)`
    WITH following AS MATERIALIZED (
      SELECT id, kind, amount, created_at FROM ledger_entries WHERE id > ${afterId} ORDER BY id LIMIT ${MOST_ENTRIES}
    ), settled AS (
      SELECT coalesce((SELECT min(id) FROM following WHERE created_at > (SELECT service_now()) - ${SETTLED}) - 1,
                      (SELECT max(id) FROM following)) AS last_id
    )
    SELECT kind,
           coalesce(sum(amount) FILTER (WHERE amount > 0), 0)::bigint AS granted,
           coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)::bigint AS charged,
           max(last_id) AS "lastId"
      FROM following JOIN settled ON id <= last_id
     GROUP BY kind`;
  const moved = rows.map(({ kind, granted, charged }) => ({ kind, granted, charged }));
  return { moved, lastId: rows[0]?.lastId ?? afterId };
}

/** Work of the whole installation that waits, beside deliveries of matches. Ages in seconds; 0 without any. */
export interface WaitingWork {
  backfills: { waiting: number; working: number; cancelling: number; oldestSeconds: number };
  digests: { due: number; oldestSeconds: number };
  digestMails: number;
  events: { pending: number; oldestSeconds: number };
}

/** Bounds the time of each count; this number stands for it or more. */
const MOST_WAITING = 5_000;

/** Counts for metrics, each over a bounded part of an index. */
export async function countWaitingWork(db: Queryable): Promise<WaitingWork> {
  const backfills = await countBackfills(db);
  const digests = await countReadyDigests(db, MOST_WAITING);
  const { mails, pending, oldestSeconds } = await readOne<{ mails: number; pending: number; oldestSeconds: number }>(
    db,
  )`
    WITH pending AS (
      SELECT created_at FROM monitor_events WHERE delivery_status = 'pending' LIMIT ${MOST_WAITING}
    )
    SELECT (SELECT count(*)::int FROM (
             SELECT FROM digest_mails WHERE outcome IS NULL
             UNION ALL
             SELECT FROM match_mails WHERE outcome IS NULL
             LIMIT ${MOST_WAITING}
           ) AS waiting) AS mails,
           (SELECT count(*)::int FROM pending) AS pending,
           coalesce((SELECT extract(epoch FROM service_now() - min(created_at)) FROM pending), 0)::float8
             AS "oldestSeconds"`;
  return { backfills, digests, digestMails: mails, events: { pending, oldestSeconds } };
}

/** A monitor has at most one run that has not ended. */
async function countBackfills(db: Queryable): Promise<WaitingWork['backfills']> {
  return readOne<WaitingWork['backfills']>(db)`
    WITH clock AS MATERIALIZED (SELECT service_now() AS now), open AS (
      SELECT created_at, cancelled_at IS NOT NULL AS is_cancelled, coalesce(lease_until > now, false) AS is_leased
      FROM backfills, clock WHERE state = 'running' LIMIT ${MOST_WAITING}
    )
    SELECT count(*) FILTER (WHERE NOT is_cancelled AND NOT is_leased)::int AS waiting,
           count(*) FILTER (WHERE NOT is_cancelled AND is_leased)::int AS working,
           count(*) FILTER (WHERE is_cancelled)::int AS cancelling,
           coalesce(extract(epoch FROM (SELECT now FROM clock) - min(created_at)), 0)::float8 AS "oldestSeconds"
    FROM open`;
}
