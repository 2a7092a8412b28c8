import type { Queryable } from '../../postgres/pool.ts';

/** Offsets by topic (without the prefix) and partition, as text because they may exceed a safe integer. */
export type TopicOffsets = Record<string, Record<string, string>>;

export interface AccountErasure {
  accountId: string;
  monitorIds: string[];
  /** null when not read yet. */
  archiveOffsets: TopicOffsets | null;
}

/** Counts deleted accounts that still have data somewhere. */
export async function countOpenErasures(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM account_erasures WHERE finished_at IS NULL',
  );
  return rows[0]!.count;
}

/** Lists deleted accounts with data in this database, oldest first. */
export async function listAccountsToErase(db: Queryable, limit: number): Promise<AccountErasure[]> {
  const { rows } = await db.query<AccountErasure>(
    `SELECT account_id AS "accountId", monitor_ids AS "monitorIds", archive_offsets AS "archiveOffsets"
     FROM account_erasures
     WHERE finished_at IS NULL AND erased_here_at IS NULL
     ORDER BY deleted_at
     LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Lists deleted accounts that have been erased here for at least `seconds`, but may have data in the archive. */
export async function listAccountsToEraseInArchive(
  db: Queryable,
  seconds: number,
  limit: number,
): Promise<AccountErasure[]> {
  const { rows } = await db.query<AccountErasure>(
    `SELECT account_id AS "accountId", monitor_ids AS "monitorIds", archive_offsets AS "archiveOffsets"
     FROM account_erasures
     WHERE finished_at IS NULL AND erased_here_at <= (SELECT service_now()) - make_interval(secs => $1)
     ORDER BY deleted_at
     LIMIT $2`,
    [seconds, limit],
  );
  return rows;
}

/** Deletes the lock rows of monitors. From then on nobody records a match of them, or publishes a stored one again. */
export async function eraseMonitorCounters(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT monitor_id FROM monitor_counters WHERE monitor_id = ANY ($1) ORDER BY monitor_id FOR UPDATE
     )
     DELETE FROM monitor_counters c USING locked WHERE c.monitor_id = locked.monitor_id`,
    [monitorIds],
  );
}

/** Deletes matches of monitors, at most `limit`. Returns how many. */
export async function eraseMatches(db: Queryable, monitorIds: readonly string[], limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT monitor_id, seq FROM matches WHERE monitor_id = ANY ($1) ORDER BY monitor_id, seq LIMIT $2 FOR UPDATE
     )
     DELETE FROM matches m USING locked WHERE m.monitor_id = locked.monitor_id AND m.seq = locked.seq`,
    [monitorIds, limit],
  );
  return rowCount ?? 0;
}

/**
 * Deletes delivery attempts of monitors, at most `limit`. Returns how many. Call it after their matches are deleted, so
 * that no new attempt can be added.
 */
export async function eraseAttempts(db: Queryable, monitorIds: readonly string[], limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM delivery_attempts
     WHERE (monitor_id, seq, attempt) IN (
       SELECT monitor_id, seq, attempt FROM delivery_attempts
       WHERE monitor_id = ANY ($1)
       ORDER BY monitor_id, seq, attempt
       LIMIT $2
     )`,
    [monitorIds, limit],
  );
  return rowCount ?? 0;
}

/** The days that monitor_threads has, which its key begins with: three of them, or a few more before a sweep. */
const THREAD_DAYS = `(
  SELECT generate_series(min(day), max(day), interval '1 day')::date FROM monitor_threads
)`;

/**
 * Deletes day counts, rule versions, states, mutes, feed addresses, backfills, digests, events, threads and health of
 * monitors: a few dozen rows of each, at most 500 mutes, 300 backfills and 1,500 events, and at most the daily cap of
 * threads for each of three days.
 */
export async function eraseMonitorHistory(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await db.query(
    `WITH days AS (
       DELETE FROM monitor_days WHERE monitor_id = ANY ($1)
     ), versions AS (
       DELETE FROM monitor_versions WHERE monitor_id = ANY ($1)
     ), states AS (
       DELETE FROM monitor_states WHERE monitor_id = ANY ($1)
     ), mutes AS (
       DELETE FROM monitor_mutes WHERE monitor_id = ANY ($1)
     ), feeds AS (
       DELETE FROM feed_tokens WHERE monitor_id = ANY ($1)
     ), runs AS (
       DELETE FROM backfills WHERE monitor_id = ANY ($1)
     ), digests AS (
       DELETE FROM monitor_digests WHERE monitor_id = ANY ($1)
     ), events AS (
       DELETE FROM monitor_events WHERE monitor_id = ANY ($1)
     ), threads AS (
       DELETE FROM monitor_threads WHERE monitor_id = ANY ($1) AND day IN ${THREAD_DAYS}
     )
     DELETE FROM monitor_health WHERE monitor_id = ANY ($1)`,
    [monitorIds],
  );
}

/** Deletes the monitors themselves, with their webhook URLs and secrets. */
export async function eraseMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await db.query(`DELETE FROM monitors WHERE id = ANY ($1) AND status = 'deleted'`, [monitorIds]);
}

/**
 * Records that this database has no data of the account's monitors. Returns false, and records nothing, while it has.
 */
export async function markErasedHere(db: Queryable, accountId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE account_erasures e SET erased_here_at = service_now()
     WHERE e.account_id = $1 AND e.erased_here_at IS NULL
       AND NOT EXISTS (SELECT FROM monitors WHERE account_id = e.account_id)
       AND NOT EXISTS (SELECT FROM monitor_counters WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM matches WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM delivery_attempts WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_days WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_versions WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_states WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_mutes WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM backfills WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_digests WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_events WHERE monitor_id = ANY (e.monitor_ids))
       AND NOT EXISTS (SELECT FROM monitor_threads WHERE monitor_id = ANY (e.monitor_ids) AND day IN ${THREAD_DAYS})
       AND NOT EXISTS (SELECT FROM monitor_health WHERE monitor_id = ANY (e.monitor_ids))`,
    [accountId],
  );
  return rowCount === 1;
}

/** Stores the offsets that the archive must reach. The first call wins. */
export async function storeArchiveOffsets(db: Queryable, accountId: string, offsets: TopicOffsets): Promise<void> {
  await db.query('UPDATE account_erasures SET archive_offsets = $2 WHERE account_id = $1 AND archive_offsets IS NULL', [
    accountId,
    JSON.stringify(offsets),
  ]);
}

/** Records that no data of the account's monitors is left anywhere. */
export async function finishErasure(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    'UPDATE account_erasures SET finished_at = service_now() WHERE account_id = $1 AND finished_at IS NULL',
    [accountId],
  );
}
