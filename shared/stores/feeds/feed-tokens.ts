import type { Queryable } from '../../postgres/pool.ts';
import { execute, readRow, readRows } from '../../postgres/sql.ts';

/** Replaces the token of a monitor's feed. Requires the monitor's lock. */
export async function putFeedToken(db: Queryable, monitorId: string, tokenHash: Uint8Array): Promise<void> {
  await execute(db)`
    INSERT INTO feed_tokens (monitor_id, token_hash) VALUES (${monitorId}, ${tokenHash})
    ON CONFLICT (monitor_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at`;
}

/** Deletes the token of a monitor's feed, if there is one. */
export async function deleteFeedToken(db: Queryable, monitorId: string): Promise<void> {
  await execute(db)`DELETE FROM feed_tokens WHERE monitor_id = ${monitorId}`;
}

/** When the feed of a monitor got its address; undefined when it has none. */
export async function readFeedTokenTime(db: Queryable, monitorId: string): Promise<Date | undefined> {
  const rows = await readRows<{ at: Date }>(db)`
    SELECT created_at AS at FROM feed_tokens WHERE monitor_id = ${monitorId}`;
  return rows[0]?.at;
}

/** The monitor that a feed shows. */
export interface FoundFeed {
  accountId: string;
  monitorId: string;
  /** Of the monitor. */
  name: string;
  /** When the monitor or the address of its feed last changed. */
  changedAt: Date;
}

/** Finds a feed by the hash of its token, unless its monitor is deleted or its account is not active. */
export async function findFeed(db: Queryable, tokenHash: Uint8Array): Promise<FoundFeed | undefined> {
  return readRow<FoundFeed>(db, 'find-feed')`
    SELECT m.account_id AS "accountId", m.id AS "monitorId", m.name, greatest(t.created_at, m.updated_at) AS "changedAt"
    FROM feed_tokens t
    JOIN monitors m ON m.id = t.monitor_id
    JOIN accounts a ON a.id = m.account_id
    WHERE t.token_hash = ${tokenHash} AND m.status <> 'deleted' AND a.status = 'active'`;
}
