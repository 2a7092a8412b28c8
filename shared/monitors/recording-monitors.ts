import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** A monitor and its counters, read under its lock. */
export interface RecordingMonitor {
  monitorId: string;
  status: string;
  version: number;
  activeSince: Date;
  hasWebhook: boolean;
  /** Whether its matches are sent together, and none by itself. */
  hasDigest: boolean;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  lastSeq: number;
  lastMatchAt: Date | null;
  /** UTC date (YYYY-MM-DD) of new matches: today, or the last match's day when the clock was set back. */
  day: string;
  /** Unsuppressed matches of that day. */
  matchesOfDay: number;
  /** Stored suppressed matches of that day. */
  suppressedOfDay: number;
  /**
   * The latest entered_at of a candidate that was not stored because it was beyond the ceiling of suppressed matches.
   */
  notStoredUntil: Date | null;
  /** The same for candidates suppressed for their thread. */
  threadsNotStoredUntil: Date | null;
  /** Whether a thread has at most one unsuppressed match a day. */
  threadOnce: boolean;
  hasMutes: boolean;
  /** service_now() of this statement. */
  now: Date;
}

/** Takes the monitors' locks until the transaction ends, in the order of their ids, as every service does. */
export async function lockRecordingMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db, 'recording-lock-monitors')`
    SELECT FROM monitor_counters
    WHERE monitor_id = ANY (${monitorIds}::text[])
    ORDER BY monitor_id
    FOR UPDATE`;
}

/**
 * Reads monitors by id, without those that have no counters row. Run it after the lock in a separate statement: the
 * snapshot of a statement is older than a lock that it waits for.
 */
export async function readRecordingMonitors(
  db: Queryable,
  monitorIds: readonly string[],
): Promise<Map<string, RecordingMonitor>> {
  const rows = await readRows<RecordingMonitor>(db, 'recording-read-monitors')`
    WITH clock AS MATERIALIZED (SELECT service_now() AS now)
    SELECT c.monitor_id AS "monitorId", m.status, m.version, m.active_since AS "activeSince",
      m.webhook_url IS NOT NULL AS "hasWebhook", m.digest IS NOT NULL AS "hasDigest", a.pack, c.last_seq AS "lastSeq",
      c.last_match_at AS "lastMatchAt", today.day::text AS day, coalesce(d.matches, 0) AS "matchesOfDay",
      coalesce(d.suppressed, 0) AS "suppressedOfDay", c.not_stored_until AS "notStoredUntil",
      c.threads_not_stored_until AS "threadsNotStoredUntil", m.thread_once AS "threadOnce",
      muted.found IS NOT NULL AS "hasMutes", clock.now
    FROM clock, monitor_counters c
    JOIN monitors m ON m.id = c.monitor_id
    JOIN accounts a ON a.id = m.account_id
    CROSS JOIN LATERAL (SELECT greatest(c.last_day, (clock.now AT TIME ZONE 'UTC')::date) AS day) AS today
    LEFT JOIN monitor_days d ON d.monitor_id = c.monitor_id AND d.day = today.day
    LEFT JOIN LATERAL (
      SELECT true AS found FROM monitor_mutes u WHERE u.monitor_id = c.monitor_id LIMIT 1
    ) AS muted ON true
    WHERE c.monitor_id = ANY (${monitorIds}::text[])`;
  return new Map(rows.map((monitor) => [monitor.monitorId, monitor]));
}

export interface RuleVersion {
  monitorId: string;
  version: number;
}

/** Reads when each of the given rule versions began. Versions that never began or were deleted are missing. */
export async function readVersionStarts(
  db: Queryable,
  versions: readonly RuleVersion[],
): Promise<(RuleVersion & { since: Date })[]> {
  return readRows<RuleVersion & { since: Date }>(db, 'recording-read-version-starts')`
    SELECT v.monitor_id AS "monitorId", v.version, v.since
    FROM unnest(${versions.map(({ monitorId }) => monitorId)}::text[],
      ${versions.map(({ version }) => version)}::integer[]) AS asked (monitor_id, version)
    JOIN monitor_versions v ON v.monitor_id = asked.monitor_id AND v.version = asked.version`;
}

/** A monitor that has reached the ceiling of suppressed matches today. */
export interface SuppressedMonitor {
  monitorId: string;
  /** Today's UTC date (YYYY-MM-DD). */
  day: string;
  /** Unsuppressed matches of the day. */
  matchesOfDay: number;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  threadOnce: boolean;
}

/** Those that have reached the ceiling of suppressed matches today. Without a lock, so it may be out of date. */
export async function findSuppressedMonitors(
  db: Queryable,
  monitorIds: readonly string[],
  suppressedPerDay: number,
): Promise<SuppressedMonitor[]> {
  return readRows<SuppressedMonitor>(db, 'recording-find-suppressed-monitors')`
    SELECT d.monitor_id AS "monitorId", d.day::text, d.matches AS "matchesOfDay", a.pack,
      m.thread_once AS "threadOnce"
    FROM monitor_days d
    JOIN monitors m ON m.id = d.monitor_id
    JOIN accounts a ON a.id = m.account_id
    WHERE d.monitor_id = ANY (${monitorIds}::text[]) AND d.day = ((SELECT service_now()) AT TIME ZONE 'UTC')::date
      AND d.suppressed >= ${suppressedPerDay}`;
}
