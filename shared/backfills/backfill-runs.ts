import type { Rule } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readOne, readRow, readRows, sql } from '../postgres/sql.ts';
import type { ChargedRequest } from '../billing/ledger.ts';

/**
 * - running: not at its end, though it may wait for others.
 * - done: everything up to `to` is decided.
 * - stopped_balance, stopped_credits, stopped_limit: there was more, beyond the balance, `max_credits` or the limit of
 *   matches of a run.
 * - cancelled: by its owner; or the monitor was deleted, or its account was deleted or frozen.
 * - failed: given up after errors of ours.
 */
export type BackfillState =
  'running' | 'done' | 'stopped_balance' | 'stopped_credits' | 'stopped_limit' | 'cancelled' | 'failed';

export interface StoredBackfill {
  id: string;
  state: BackfillState;
  /** When its owner cancelled it; nothing was recorded since. */
  cancelledAt: Date | null;
  from: Date;
  to: Date;
  deliver: boolean;
  maxCredits: number | null;
  /** Everything that was first seen before is decided; null: nothing is. */
  scannedTo: Date | null;
  matches: number;
  /** Of the matches. */
  delivered: number;
  /** Items that matched and were matches of the monitor before. */
  alreadyKnown: number;
  credits: number;
  startedAt: Date;
  endedAt: Date | null;
}

export interface NewBackfill {
  id: string;
  monitorId: string;
  accountId: string;
  version: number;
  rule: Rule;
  /** ISO 8601; may be cut, see `insertBackfill`. */
  from: string;
  /** undefined: now. */
  to: string | undefined;
  deliver: boolean;
  maxCredits: number | undefined;
  request: ChargedRequest;
}

const COLUMNS = sql`id, state, cancelled_at AS "cancelledAt", from_at AS "from", to_at AS "to", deliver, max_credits AS "maxCredits",
  scanned_at AS "scannedTo", matches, delivered, already_known AS "alreadyKnown", credits,
  created_at AS "startedAt", ended_at AS "endedAt"`;

/** How far back the archive goes. */
export const ARCHIVE_DAYS = 30;

/**
 * Adds a run. Requires the monitor's lock, so that no `to` of now is before the monitor's active_since. Times earlier
 * than the archive are cut to it.
 */
export async function insertBackfill(db: Queryable, run: NewBackfill): Promise<StoredBackfill> {
  return readOne<StoredBackfill>(db)`
    WITH clock AS MATERIALIZED (SELECT wall_now() AS now)
    INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, until_now, deliver, max_credits,
      request_id, route, key_id)
    SELECT ${run.id}, ${run.monitorId}, ${run.accountId}, ${run.version}, ${JSON.stringify(run.rule)},
      greatest(${run.from}::timestamptz, now - make_interval(days => ${ARCHIVE_DAYS})),
      least(coalesce(${run.to ?? null}::timestamptz, now), now), coalesce(${run.to ?? null}::timestamptz >= now, true),
        ${run.deliver}, ${run.maxCredits ?? null}, ${run.request.requestId}, ${run.request.route},
        ${run.request.keyId ?? null}
    FROM clock
    RETURNING ${COLUMNS}`;
}

export async function listBackfills(db: Queryable, monitorId: string, limit: number): Promise<StoredBackfill[]> {
  return readRows<StoredBackfill>(db)`
    SELECT ${COLUMNS} FROM backfills WHERE monitor_id = ${monitorId} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

/**
 * Cancels a run that has not ended. Requires the monitor's lock: the recorder looks under it, so that nothing is
 * recorded after the commit. The recorder ends the run, once everything that it recorded is published.
 *
 * @returns the run, which may have ended before; undefined when the monitor has no such run
 */
export async function cancelBackfill(
  db: Queryable,
  monitorId: string,
  id: string,
): Promise<StoredBackfill | undefined> {
  return readRow<StoredBackfill>(db)`
    UPDATE backfills
    SET cancelled_at = CASE WHEN state = 'running' THEN coalesce(cancelled_at, service_now()) ELSE cancelled_at END
    WHERE id = ${id} AND monitor_id = ${monitorId}
    RETURNING ${COLUMNS}`;
}

export interface RecentBackfills {
  isRunning: boolean;
  /** Begun in the last 24 hours. */
  begun: number;
  /** Seconds until the first of those was begun 24 hours ago; 0 without any. */
  secondsUntilFewer: number;
}

/** Exact when the caller holds the monitor's lock. */
export async function countRecentBackfills(db: Queryable, monitorId: string): Promise<RecentBackfills> {
  return readOne<RecentBackfills>(db)`
    SELECT coalesce(bool_or(state = 'running'), false) AS "isRunning",
      (count(*) FILTER (WHERE is_recent))::int AS begun,
      coalesce(ceil(extract(epoch FROM min(created_at) FILTER (WHERE is_recent) + interval '24 hours'
        - (SELECT service_now()))), 0)::int AS "secondsUntilFewer"
    FROM (SELECT *, created_at > (SELECT service_now()) - interval '24 hours' AS is_recent
            FROM backfills WHERE monitor_id = ${monitorId}) AS runs`;
}
