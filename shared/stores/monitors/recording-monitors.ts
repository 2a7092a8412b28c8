import type { Queryable } from '../../postgres/pool.ts';

/** A monitor and its counters, read under its lock. */
export interface RecordingMonitor {
  monitorId: string;
  status: string;
  version: number;
  activeSince: Date;
  hasWebhook: boolean;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
  lastSeq: number;
  lastMatchAt: Date | undefined;
  /** UTC date (YYYY-MM-DD) of new matches: today, or the last match's day when the clock went back. */
  day: string;
  /** Unsuppressed matches of that day. */
  matchesOfDay: number;
  /** Stored suppressed matches of that day. */
  suppressedOfDay: number;
  /**
   * The latest entered_at of a candidate that was not stored, because it was beyond the ceiling of suppressed matches.
   */
  notStoredUntil: Date | undefined;
  /** The service's time of this reading. */
  now: Date;
}

/** Takes the monitors' locks until the transaction ends, in the one order that everyone takes them in. */
export async function lockRecordingMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await db.query({
    name: 'recording-lock-monitors',
    text: `
      SELECT FROM monitor_counters
      WHERE monitor_id = ANY ($1::text[])
      ORDER BY monitor_id
      FOR UPDATE`,
    values: [monitorIds],
  });
}

interface MonitorRow {
  monitor_id: string;
  status: string;
  version: number;
  active_since: Date;
  has_webhook: boolean;
  pack: number;
  last_seq: number;
  last_match_at: Date | null;
  day: string;
  matches_of_day: number;
  suppressed_of_day: number;
  not_stored_until: Date | null;
  now: Date;
}

/**
 * The monitors by id, without those that have no counters row. Must come after the lock in a statement of its own: a
 * statement's snapshot is older than a lock it waits for.
 */
export async function readRecordingMonitors(
  db: Queryable,
  monitorIds: readonly string[],
): Promise<Map<string, RecordingMonitor>> {
  const result = await db.query<MonitorRow>({
    name: 'recording-read-monitors',
    text: `
      WITH clock AS MATERIALIZED (SELECT service_now() AS now)
      SELECT c.monitor_id, m.status, m.version, m.active_since, m.webhook_url IS NOT NULL AS has_webhook, a.pack,
        c.last_seq, c.last_match_at, today.day::text AS day, coalesce(d.matches, 0) AS matches_of_day,
        coalesce(d.suppressed, 0) AS suppressed_of_day, c.not_stored_until, clock.now
      FROM clock, monitor_counters c
      JOIN monitors m ON m.id = c.monitor_id
      JOIN accounts a ON a.id = m.account_id
      CROSS JOIN LATERAL (SELECT greatest(c.last_day, (clock.now AT TIME ZONE 'UTC')::date) AS day) AS today
      LEFT JOIN monitor_days d ON d.monitor_id = c.monitor_id AND d.day = today.day
      WHERE c.monitor_id = ANY ($1::text[])`,
    values: [monitorIds],
  });
  return new Map(result.rows.map((row) => [row.monitor_id, toMonitor(row)]));
}

function toMonitor(row: MonitorRow): RecordingMonitor {
  return {
    monitorId: row.monitor_id,
    status: row.status,
    version: row.version,
    activeSince: row.active_since,
    hasWebhook: row.has_webhook,
    pack: row.pack,
    lastSeq: row.last_seq,
    lastMatchAt: row.last_match_at ?? undefined,
    day: row.day,
    matchesOfDay: row.matches_of_day,
    suppressedOfDay: row.suppressed_of_day,
    notStoredUntil: row.not_stored_until ?? undefined,
    now: row.now,
  };
}

export interface RuleVersion {
  monitorId: string;
  version: number;
}

/** When each of the given rule versions began; those that never did, or are forgotten, are missing. */
export async function readVersionStarts(
  db: Queryable,
  versions: readonly RuleVersion[],
): Promise<(RuleVersion & { since: Date })[]> {
  const { rows } = await db.query<RuleVersion & { since: Date }>({
    name: 'recording-read-version-starts',
    text: `
      SELECT v.monitor_id AS "monitorId", v.version, v.since
      FROM unnest($1::text[], $2::integer[]) AS w (monitor_id, version)
      JOIN monitor_versions v ON v.monitor_id = w.monitor_id AND v.version = w.version`,
    values: [versions.map((wanted) => wanted.monitorId), versions.map((wanted) => wanted.version)],
  });
  return rows;
}

/**
 * Of the given monitors those that have stored as many suppressed matches today as they may, with the unsuppressed
 * matches of the day and the account's pack. Takes no lock: a hint, which may be out of date when it is read.
 */
export async function findSuppressedMonitors(
  db: Queryable,
  monitorIds: readonly string[],
  suppressedPerDay: number,
): Promise<{ monitorId: string; matchesOfDay: number; pack: number }[]> {
  const { rows } = await db.query<{ monitorId: string; matchesOfDay: number; pack: number }>({
    name: 'recording-find-suppressed-monitors',
    text: `
      SELECT d.monitor_id AS "monitorId", d.matches AS "matchesOfDay", a.pack
      FROM monitor_days d
      JOIN monitors m ON m.id = d.monitor_id
      JOIN accounts a ON a.id = m.account_id
      WHERE d.monitor_id = ANY ($1::text[]) AND d.day = ((SELECT service_now()) AT TIME ZONE 'UTC')::date
        AND d.suppressed >= $2`,
    values: [monitorIds, suppressedPerDay],
  });
  return rows;
}
