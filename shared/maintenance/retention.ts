import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** Lists the next monitors to clean up after `afterId`, by id. */
export async function listCounterIds(db: Queryable, afterId: string, limit: number): Promise<string[]> {
  const rows = await readRows<{ monitor_id: string }>(db)`
    SELECT monitor_id FROM monitor_counters WHERE monitor_id > ${afterId} ORDER BY monitor_id LIMIT ${limit}`;
  return rows.map(({ monitor_id }) => monitor_id);
}

/** The rows of a monitor that a statement may delete: those with a greater number than `after`. */
export interface MonitorRows {
  monitorId: string;
  after: number;
}

/** How many rows of a monitor were deleted, and the number after which the next ones are. */
export interface DeletedRows extends MonitorRows {
  deleted: number;
}

/**
 * Deletes matches that are older than `days`, of each monitor its `limit` oldest at most. Monitors that have none are
 * not in the answer. seq order is time order, so the primary key finds the oldest rows and nothing else is read. What
 * many monitors matched at the same time is stored side by side: a statement that deletes a few rows of each changes
 * fewer pages than one that deletes all of a monitor.
 */
export async function deleteExpiredMatches(
  db: Queryable,
  monitors: readonly MonitorRows[],
  { days, limit }: { days: number; limit: number },
): Promise<DeletedRows[]> {
  // Both limits keep the planner from joining the whole table.
  const { rows } = await db.query<DeletedRows>(
    `WITH deleted AS (
       DELETE FROM matches WHERE ctid = ANY (ARRAY(
         SELECT expired.ctid
           FROM unnest($1::text[], $2::bigint[]) AS swept (monitor_id, after),
             LATERAL (
               SELECT max(seq) AS seq
                 FROM (SELECT seq, created_at FROM matches
                        WHERE monitor_id = swept.monitor_id AND seq > swept.after ORDER BY seq LIMIT $4) AS oldest
                WHERE created_at < (SELECT service_now()) - make_interval(days => $3)
             ) AS last,
             LATERAL (
               SELECT ctid FROM matches WHERE monitor_id = swept.monitor_id AND seq > swept.after AND seq <= last.seq
                ORDER BY seq LIMIT $4
             ) AS expired))
       RETURNING monitor_id, seq
     )
     SELECT monitor_id AS "monitorId", max(seq) AS after, count(*) AS deleted FROM deleted GROUP BY monitor_id`,
    [...columnsOf(monitors), days, limit],
  );
  return rows;
}

/** Returns of each monitor the number before its first match; when it has none, the last number that it gave. */
export async function readLastDeletedNumbers(
  db: Queryable,
  monitorIds: readonly string[],
): Promise<{ monitorId: string; seq: number }[]> {
  return readRows<{ monitorId: string; seq: number }>(db)`
    SELECT monitor_id AS "monitorId",
    coalesce((SELECT min(seq) - 1 FROM matches m WHERE m.monitor_id = c.monitor_id), last_seq) AS seq
    FROM monitor_counters c WHERE monitor_id = ANY (${monitorIds}::text[])`;
}

/**
 * Deletes the attempts of matches whose numbers are greater than `after` and at most `upTo`, of each monitor its
 * `limit` oldest at most. Monitors that have none are not in the answer.
 */
export async function deleteAttempts(
  db: Queryable,
  monitors: readonly (MonitorRows & { upTo: number })[],
  limit: number,
): Promise<DeletedRows[]> {
  // The last match may have more attempts than were deleted.
  const { rows } = await db.query<DeletedRows>(
    `WITH deleted AS (
       DELETE FROM delivery_attempts WHERE ctid = ANY (ARRAY(
         SELECT oldest.ctid
           FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS swept (monitor_id, after, up_to),
             LATERAL (
               SELECT ctid FROM delivery_attempts
                WHERE monitor_id = swept.monitor_id AND seq > swept.after AND seq <= swept.up_to
                ORDER BY seq, attempt LIMIT $4
             ) AS oldest))
       RETURNING monitor_id, seq
     )
     SELECT monitor_id AS "monitorId", max(seq) - 1 AS after, count(*) AS deleted FROM deleted GROUP BY monitor_id`,
    [...columnsOf(monitors), monitors.map(({ upTo }) => upTo), limit],
  );
  return rows;
}

/** Deletes the marks of matches that are gone: those up to a number. Returns how many. */
export async function deleteMarks(
  db: Queryable,
  monitors: readonly { monitorId: string; upTo: number }[],
): Promise<number> {
  return execute(db)`
    DELETE FROM match_marks k
    USING unnest(${monitors.map(({ monitorId }) => monitorId)}::text[], ${monitors.map(({ upTo }) => upTo)}::bigint[])
      AS swept (monitor_id, up_to)
    WHERE k.monitor_id = swept.monitor_id AND k.seq <= swept.up_to`;
}

function columnsOf(monitors: readonly MonitorRows[]): [string[], number[]] {
  return [monitors.map(({ monitorId }) => monitorId), monitors.map(({ after }) => after)];
}

/**
 * Deletes day counts, rule versions and states of monitors that are older than `days`, except the current version and
 * the state with which these days began. Returns how many.
 */
export async function deleteExpiredHistory(
  db: Queryable,
  monitorIds: readonly string[],
  days: number,
): Promise<number> {
  const daysDeleted = await execute(db)`
    DELETE FROM monitor_days
    WHERE monitor_id = ANY (${monitorIds}::text[]) AND day < ((SELECT service_now()) - make_interval(days => ${days}))::date`;
  const versionsDeleted = await execute(db)`
    DELETE FROM monitor_versions v
    USING monitors m
    WHERE v.monitor_id = ANY (${monitorIds}::text[]) AND m.id = v.monitor_id AND v.version < m.version
      AND v.since < (SELECT service_now()) - make_interval(days => ${days})`;
  const statesDeleted = await execute(db)`
    DELETE FROM monitor_states s
    WHERE s.monitor_id = ANY (${monitorIds}::text[])
      AND s.at < (SELECT max(at) FROM monitor_states
                   WHERE monitor_id = s.monitor_id AND at < (SELECT service_now()) - make_interval(days => ${days}))`;
  return daysDeleted + versionsDeleted + statesDeleted;
}

/**
 * Deletes the lock rows of those of the monitors that are deleted and have nothing left to expire, so that later passes
 * skip them. A recorder that finds no lock row treats the monitor as deleted, which it is. What else it had is deleted
 * too; the remaining row has only its account and its times. Locked monitors are left for the next pass.
 */
export async function forgetDeletedMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`
    WITH empty AS MATERIALIZED (
      SELECT c.monitor_id
      FROM monitor_counters c
      JOIN monitors m ON m.id = c.monitor_id
      WHERE c.monitor_id = ANY (${monitorIds}::text[]) AND m.status = 'deleted'
        AND NOT EXISTS (SELECT FROM matches WHERE monitor_id = m.id)
        AND NOT EXISTS (SELECT FROM delivery_attempts WHERE monitor_id = m.id)
        AND NOT EXISTS (SELECT FROM monitor_days WHERE monitor_id = m.id)
      ORDER BY c.monitor_id
      FOR UPDATE OF c SKIP LOCKED
    ), forgotten AS (
      DELETE FROM monitor_counters c USING empty WHERE c.monitor_id = empty.monitor_id
      RETURNING c.monitor_id
    ), health AS (
      DELETE FROM monitor_health h USING forgotten f WHERE h.monitor_id = f.monitor_id
    ), versions AS (
      DELETE FROM monitor_versions v USING forgotten f WHERE v.monitor_id = f.monitor_id
    ), mutes AS (
      DELETE FROM monitor_mutes u USING forgotten f WHERE u.monitor_id = f.monitor_id
    ), marks AS (
      DELETE FROM match_marks k USING forgotten f WHERE k.monitor_id = f.monitor_id
    ), positions AS (
      DELETE FROM match_positions p USING forgotten f WHERE p.monitor_id = f.monitor_id
    ), feeds AS (
      DELETE FROM feed_tokens t USING forgotten f WHERE t.monitor_id = f.monitor_id
    ), states AS (
      DELETE FROM monitor_states s USING forgotten f WHERE s.monitor_id = f.monitor_id
    ), backfills AS (
      DELETE FROM backfills b USING forgotten f WHERE b.monitor_id = f.monitor_id
    )
    UPDATE monitors m
    SET name = '', keywords = '{}', exclude = '{}', subreddits = '{}', refinements = NULL, webhook_url = NULL,
      webhook_kind = NULL, webhook_secret = '', previous_webhook_secret = NULL, previous_secret_until = NULL
    FROM forgotten f
    WHERE m.id = f.monitor_id`;
}

/**
 * Tables whose rows expire independently of others: the column with the time, how long after it a row is kept, and what
 * else must be true of it. Times in the future say when the row is of no use any more.
 */
const EXPIRING: Record<string, { by: string; kept: string; and?: string }> = {
  matched_items: { by: 'kept_until', kept: '0' },
  removed_things: { by: 'at', kept: '90 days' },
  // A day is today, and after a clock was set back at most a later one.
  monitor_threads: { by: 'day', kept: '3 days' },
  backfills: { by: 'ended_at', kept: '30 days' },
  idempotency_keys: { by: 'created_at', kept: '24 hours' },
  signups: { by: 'expires_at', kept: '1 hour' },
  notices: { by: 'found_at', kept: '30 days' },
  monitor_events: { by: 'created_at', kept: '30 days' },
  digest_mails: { by: 'created_at', kept: '7 days' },
  oauth_records: { by: 'expires_at', kept: '0' },
  // Expired sessions tell known networks from new ones.
  dashboard_sessions: { by: 'expires_at', kept: '60 days' },
  recent_uses: { by: 'kept_until', kept: '0' },
  live_tails: { by: 'lease_until', kept: '0' },
  crawl_gaps: { by: 'opened_at', kept: '90 days' },
  lost_records: { by: 'noticed_at', kept: '90 days' },
  // The archive keeps 30 days; older hours are not estimated again.
  audit_samples: { by: 'hour', kept: '35 days' },
  // So that a month can be compared with the same one a year before.
  forum_calls: { by: 'hour', kept: '400 days' },
  coverage_hours: { by: 'hour', kept: '400 days' },
  // A commit ends with the server's next start at the latest.
  unknown_charges: { by: 'noted_at', kept: '7 days' },
  // Longer than the payment provider repeats an event, or a checkout that nobody paid can be paid.
  payment_events: { by: 'seen_at', kept: '90 days' },
  payment_charges: { by: 'first_seen_at', kept: '90 days', and: 'payment_id IS NULL' },
  payments: { by: 'created_at', kept: '90 days', and: `status IN ('started', 'expired', 'failed')` },
};

export const EXPIRING_TABLES = Object.keys(EXPIRING);

/** Deletes at most `limit` expired rows of a table, the oldest first; locked ones stay. Returns how many. */
export async function deleteExpired(db: Queryable, table: string, limit: number): Promise<number> {
  const { by, kept, and = 'true' } = EXPIRING[table]!;
  const { rowCount } = await db.query(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table}
       WHERE ${by} <= (SELECT service_now()) - interval '${kept}' AND ${and}
       ORDER BY ${by}
       LIMIT $1
       FOR UPDATE SKIP LOCKED
     ))`,
    [limit],
  );
  return rowCount ?? 0;
}
