import type { Queryable } from '../../postgres/pool.ts';
import { isChanged } from '../../postgres/sql.ts';
import type { AwaitedOffsets, BackfillProgress, ClaimedBackfill } from './backfill-claims.ts';
import type { BackfillState } from './backfill-runs.ts';

/** Another process works on the run, or it is gone. Roll the transaction back. */
export class BackfillLeaseLost extends Error {
  override name = 'BackfillLeaseLost';
}

type Lease = Pick<ClaimedBackfill, 'id' | 'leaseToken'>;

/**
 * Stores what the run has done. Call it in the transaction that records its matches, as the last statement.
 *
 * @throws BackfillLeaseLost
 */
export async function saveBackfillProgress(db: Queryable, lease: Lease, progress: BackfillProgress): Promise<void> {
  const { rowCount } = await db.query({
    name: 'backfill-save-progress',
    text: `UPDATE backfills
           SET scanned_at = $3, scanned_thing = $4, matches = $5, delivered = $6, already_known = $7, credits = $8,
             first_seq = $9, last_seq = $10, published_seq = $11, faults = 0
           WHERE id = $1 AND lease_token = $2 AND state = 'running'`,
    values: [
      lease.id,
      lease.leaseToken,
      progress.position?.firstSeenAt ?? null,
      progress.position?.thingId ?? null,
      progress.matches,
      progress.delivered,
      progress.alreadyKnown,
      progress.credits,
      progress.firstSeq,
      progress.lastSeq,
      progress.publishedSeq,
    ],
  });
  if (rowCount !== 1) throw new BackfillLeaseLost(`the run ${lease.id} is not leased by this process any more`);
}

/** Stores what the run waits for. @throws BackfillLeaseLost */
export async function storeAwaitedOffsets(db: Queryable, lease: Lease, awaited: AwaitedOffsets): Promise<void> {
  const { rowCount } = await db.query(
    `UPDATE backfills SET awaited_offsets = $3 WHERE id = $1 AND lease_token = $2 AND state = 'running'`,
    [lease.id, lease.leaseToken, JSON.stringify(awaited)],
  );
  if (rowCount !== 1) throw new BackfillLeaseLost(`the run ${lease.id} is not leased by this process any more`);
}

/**
 * Ends a run, all of whose matches are published. A run that is done has decided everything up to its `to`.
 *
 * @throws BackfillLeaseLost
 */
export async function endBackfill(
  db: Queryable,
  { id, leaseToken, lastSeq }: ClaimedBackfill,
  state: Exclude<BackfillState, 'running' | 'failed'>,
): Promise<void> {
  const { rowCount } = await db.query(
    `UPDATE backfills
     SET state = $3, published_seq = $4, ended_at = service_now(), lease_token = NULL, lease_until = NULL,
       scanned_at = CASE WHEN $3 = 'done' THEN to_at ELSE scanned_at END
     WHERE id = $1 AND lease_token = $2 AND state = 'running'`,
    [id, leaseToken, state, lastSeq],
  );
  if (rowCount !== 1) throw new BackfillLeaseLost(`the run ${id} is not leased by this process any more`);
}

/** Whether a run may go on: it is not cancelled, its monitor is not deleted, and its account is active. */
export async function mayBackfill(
  db: Queryable,
  { id, monitorId }: Pick<ClaimedBackfill, 'id' | 'monitorId'>,
): Promise<boolean> {
  return isChanged(db)`
    SELECT FROM backfills b JOIN monitor_counters c ON c.monitor_id = b.monitor_id
      JOIN monitors m ON m.id = c.monitor_id JOIN accounts a ON a.id = m.account_id
    WHERE b.id = ${id} AND b.cancelled_at IS NULL AND c.monitor_id = ${monitorId} AND m.status <> 'deleted'
      AND a.status = 'active'`;
}

/** Exact when the caller holds the monitor's lock. */
export async function isBackfillCancelled(db: Queryable, { id }: Pick<ClaimedBackfill, 'id'>): Promise<boolean> {
  return isChanged(db, 'backfill-is-cancelled')`SELECT FROM backfills WHERE id = ${id} AND cancelled_at IS NOT NULL`;
}
