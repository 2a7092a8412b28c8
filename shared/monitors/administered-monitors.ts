import type { MonitorStatus } from '../../schemas/api/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRow, readRows } from '../postgres/sql.ts';

export interface ListedMonitor {
  id: string;
  accountId: string;
  name: string;
  keywords: string[];
  /** The texts of its terms; empty: none. */
  terms: string[];
  status: MonitorStatus;
  webhookKind: string | null;
  webhookFailing: boolean;
  nextChargeAt: Date;
  lastMatchAt: Date | null;
  createdAt: Date;
}

export interface MonitorFilter {
  accountId?: string | undefined;
  status?: MonitorStatus | undefined;
  /** Only those whose webhook is failing. */
  failing?: boolean;
  /** Only monitors with a greater id. */
  afterId?: string | undefined;
  limit: number;
}

/** Monitors of all accounts in the order of their ids; deleted ones only when asked for by status. */
export async function listAllMonitors(db: Queryable, filter: MonitorFilter): Promise<ListedMonitor[]> {
  return readRows<ListedMonitor>(db)`
    SELECT m.id, m.account_id AS "accountId", m.name, m.keywords, m.status,
           ARRAY(SELECT term ->> 'text' FROM jsonb_array_elements(m.refinements -> 'terms') AS term) AS terms,
           m.webhook_kind AS "webhookKind",
           coalesce(h.webhook_failing, false) AS "webhookFailing", m.next_charge_at AS "nextChargeAt",
           c.last_match_at AS "lastMatchAt", m.created_at AS "createdAt"
      FROM monitors m
      LEFT JOIN monitor_counters c ON c.monitor_id = m.id
      LEFT JOIN monitor_health h ON h.monitor_id = m.id
     WHERE m.id > ${filter.afterId ?? ''} AND (${filter.accountId ?? null}::text IS NULL OR m.account_id =
       ${filter.accountId ?? null})
       AND CASE WHEN ${filter.status ?? null}::text IS NULL THEN m.status <> 'deleted' ELSE m.status =
         ${filter.status ?? null} END
       AND (${filter.failing ?? false}::boolean IS NOT TRUE OR h.webhook_failing)
     ORDER BY m.id
     LIMIT ${filter.limit}`;
}

/** Finds the account of a monitor in any state. */
export async function findMonitorOwner(db: Queryable, id: string): Promise<string | undefined> {
  const row = await readRow<{ accountId: string }>(db)`
    SELECT account_id AS "accountId" FROM monitors WHERE id = ${id}`;
  return row?.accountId;
}

/** A monitor whose day of matches was later than today. UTC dates, YYYY-MM-DD. */
export interface ResetDay {
  monitorId: string;
  /** The day on which its matches were counted, and the one on which they are from now on. */
  from: string;
  to: string;
}

/** Monitors whose matches are counted on a day that has not begun, because a clock was ahead: by id. */
export async function findMonitorsAhead(db: Queryable): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    SELECT monitor_id AS id FROM monitor_counters
    WHERE last_day > ((SELECT service_now()) AT TIME ZONE 'UTC')::date
    ORDER BY monitor_id`;
  return rows.map(({ id }) => id);
}

/**
 * Sets a locked monitor's day back to today when it is later. What was counted on later days is added to yesterday, so
 * that it stays in the sums and today's cap begins again. Returns undefined when the day is not later.
 */
export async function resetDay(db: Queryable, monitorId: string): Promise<ResetDay | undefined> {
  return readRow<ResetDay>(db)`
    WITH today AS MATERIALIZED (
      SELECT (service_now() AT TIME ZONE 'UTC')::date AS day
    ), ahead AS (
      SELECT c.last_day AS was, today.day FROM monitor_counters c, today
       WHERE c.monitor_id = ${monitorId} AND c.last_day > today.day
    ), removed AS (
      DELETE FROM monitor_days d USING ahead WHERE d.monitor_id = ${monitorId} AND d.day > ahead.day RETURNING d.*
    ), moved AS (
      INSERT INTO monitor_days (monitor_id, day, matches, suppressed, suppressed_not_stored)
      SELECT r.monitor_id, ahead.day - 1, sum(r.matches), sum(r.suppressed), sum(r.suppressed_not_stored)
        FROM removed r, ahead GROUP BY r.monitor_id, ahead.day
      ON CONFLICT (monitor_id, day) DO UPDATE
        SET matches = monitor_days.matches + excluded.matches,
          suppressed = monitor_days.suppressed + excluded.suppressed,
          suppressed_not_stored = monitor_days.suppressed_not_stored + excluded.suppressed_not_stored
    )
    UPDATE monitor_counters c SET last_day = ahead.day FROM ahead WHERE c.monitor_id = ${monitorId}
    RETURNING c.monitor_id AS "monitorId", ahead.was::text AS "from", ahead.day::text AS "to"`;
}

export interface CopiedMonitor {
  monitorId: string;
  /** Empty once the monitor is deleted. */
  name: string;
  accountId: string;
  createdAt: Date;
  isDeleted: boolean;
}

/** A page in the order of the ids, which is the order of their bytes. */
export interface CopyPage {
  /** The last id of the page before; undefined: from the beginning. */
  after: string | undefined;
  limit: number;
  /** Whether only rows that changed in the last minutes are read. */
  isRecent: boolean;
}

/** Reads a page of all monitors, deleted ones included. An index serves recent ones (monitors_updated). */
export async function readMonitorsToCopy(db: Queryable, page: CopyPage): Promise<CopiedMonitor[]> {
  return readRows<CopiedMonitor>(db)`
    SELECT id AS "monitorId", CASE WHEN status = 'deleted' THEN '' ELSE name END AS name, account_id AS "accountId",
          created_at AS "createdAt", status = 'deleted' AS "isDeleted"
     FROM monitors
    WHERE id > ${page.after ?? ''}
      AND (NOT ${page.isRecent} OR updated_at > (SELECT service_now()) - interval '3 minutes')
    ORDER BY id
    LIMIT ${page.limit}`;
}
