import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRows, sql } from '../postgres/sql.ts';

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
  const { count } = await readOne<{ count: number }>(db)`
    SELECT count(*) AS count FROM account_erasures WHERE finished_at IS NULL`;
  return count;
}

const OPEN_ERASURES = sql`
  SELECT account_id AS "accountId", monitor_ids AS "monitorIds", archive_offsets AS "archiveOffsets"
  FROM account_erasures
  WHERE finished_at IS NULL`;

/** Accounts with data in this database, oldest first. */
export async function listAccountsToErase(db: Queryable, limit: number): Promise<AccountErasure[]> {
  return readRows<AccountErasure>(db)`${OPEN_ERASURES} AND erased_here_at IS NULL ORDER BY deleted_at LIMIT ${limit}`;
}

/** Accounts that have been erased here for at least `seconds`, but may have data in the archive. */
export async function listAccountsToEraseInArchive(
  db: Queryable,
  seconds: number,
  limit: number,
): Promise<AccountErasure[]> {
  return readRows<AccountErasure>(db)`
    ${OPEN_ERASURES} AND erased_here_at <= (SELECT service_now()) - make_interval(secs => ${seconds})
    ORDER BY deleted_at
    LIMIT ${limit}`;
}

/** The days that monitor_threads has, which its key begins with: three of them, or a few more before a sweep. */
const THREAD_DAYS = `day IN (SELECT generate_series(min(day), max(day), interval '1 day')::date FROM monitor_threads)`;

/**
 * Tables with rows of monitors: a few dozen of each monitor in most, at most 500 mutes, 300 backfills, 1,500 events and
 * 6,000 marks, and at most the daily cap of threads for each of three days; matches and attempts without a bound. In
 * this order: a recorder that finds no lock row (monitor_counters) adds no match and publishes none again, and without
 * its match no new attempt is added.
 */
const TABLES: { table: string; order: string; and?: string }[] = [
  { table: 'monitor_counters', order: 'monitor_id' },
  { table: 'matches', order: 'monitor_id, seq' },
  { table: 'delivery_attempts', order: 'monitor_id, seq, attempt' },
  ...['monitor_days', 'monitor_versions', 'monitor_states', 'monitor_mutes', 'feed_tokens', 'backfills'].map(byMonitor),
  ...['monitor_digests', 'match_mails', 'monitor_events', 'monitor_health', 'match_marks', 'match_positions'].map(
    byMonitor,
  ),
  { table: 'monitor_threads', order: 'monitor_id', and: THREAD_DAYS },
];

function byMonitor(table: string) {
  return { table, order: 'monitor_id' };
}

/**
 * Deletes the rows of monitors in all tables but their own, at most `limit` in a statement.
 *
 * @param mayContinue asked after each statement that deleted rows
 * @returns whether it came to the end
 */
export async function eraseMonitorRows(
  db: Queryable,
  monitorIds: readonly string[],
  limit: number,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  for (const { table, order, and = 'true' } of TABLES) {
    for (let deleted = limit; deleted >= limit;) {
      const { rowCount } = await db.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE monitor_id = ANY ($1) AND ${and} ORDER BY ${order} LIMIT $2 FOR UPDATE
         ))`,
        [monitorIds, limit],
      );
      deleted = rowCount ?? 0;
      if (deleted > 0 && !(await mayContinue())) return false;
    }
  }
  return true;
}

export async function eraseMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`DELETE FROM monitors WHERE id = ANY (${monitorIds}) AND status = 'deleted'`;
}

/** Returns false, and records nothing, while this database has data of the account's monitors. */
export async function markErasedHere(db: Queryable, accountId: string): Promise<boolean> {
  const isGone = TABLES.map(
    ({ table, and = 'true' }) =>
      `AND NOT EXISTS (SELECT FROM ${table} WHERE monitor_id = ANY (e.monitor_ids) AND ${and})`,
  );
  const { rowCount } = await db.query(
    `UPDATE account_erasures e SET erased_here_at = service_now()
     WHERE e.account_id = $1 AND e.erased_here_at IS NULL
       AND NOT EXISTS (SELECT FROM monitors WHERE account_id = e.account_id)
       ${isGone.join(' ')}`,
    [accountId],
  );
  return rowCount === 1;
}

/** Stores the offsets that the archive must reach. The first call wins. */
export async function storeArchiveOffsets(db: Queryable, accountId: string, offsets: TopicOffsets): Promise<void> {
  await execute(db)`
    UPDATE account_erasures SET archive_offsets = ${JSON.stringify(offsets)} WHERE account_id = ${accountId}
      AND archive_offsets IS NULL`;
}

export async function finishErasure(db: Queryable, accountId: string): Promise<void> {
  await execute(db)`
    UPDATE account_erasures SET finished_at = service_now() WHERE account_id = ${accountId} AND finished_at IS NULL`;
}
