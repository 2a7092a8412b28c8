import type { Queryable } from '../postgres/pool.ts';
import { isChanged } from '../postgres/sql.ts';
import type { AwaitedOffsets, BackfillProgress, ClaimedBackfill } from './backfill-claims.ts';
import type { BackfillState } from './backfill-runs.ts';

/** Another process works on the run, or it is gone. Roll the transaction back. */
export class BackfillLeaseLost extends Error {
  override name = 'BackfillLeaseLost';

  constructor(id: string) {
    super(`the run ${id} is not leased by this process any more`);
  }
}

type Lease = Pick<ClaimedBackfill, 'id' | 'leaseToken'>;

/** The last statement of the transaction that records the matches. @throws BackfillLeaseLost */
export async function saveBackfillProgress(db: Queryable, lease: Lease, progress: BackfillProgress): Promise<void> {
  const isOurs = await isChanged(db, 'backfill-save-progress')`
    UPDATE backfills
    SET scanned_at = ${progress.position?.firstSeenAt ?? null}, scanned_thing = ${progress.position?.thingId ?? null},
      matches = ${progress.matches}, delivered = ${progress.delivered}, already_known = ${progress.alreadyKnown},
      credits = ${progress.credits},
      first_seq = ${progress.firstSeq}, last_seq = ${progress.lastSeq}, published_seq = ${progress.publishedSeq},
        faults = 0
    WHERE id = ${lease.id} AND lease_token = ${lease.leaseToken} AND state = 'running'`;
  if (!isOurs) throw new BackfillLeaseLost(lease.id);
}

/** Stores what the run waits for. @throws BackfillLeaseLost */
export async function storeAwaitedOffsets(db: Queryable, lease: Lease, awaited: AwaitedOffsets): Promise<void> {
  const isOurs = await isChanged(db)`
    UPDATE backfills SET awaited_offsets = ${JSON.stringify(awaited)} WHERE id = ${lease.id} AND lease_token =
      ${lease.leaseToken} AND state = 'running'`;
  if (!isOurs) throw new BackfillLeaseLost(lease.id);
}

/** Its matches must be published. A run that is done has decided everything up to `to`. @throws BackfillLeaseLost */
export async function endBackfill(
  db: Queryable,
  { id, leaseToken, lastSeq }: ClaimedBackfill,
  state: Exclude<BackfillState, 'running' | 'failed'>,
): Promise<void> {
  const isOurs = await isChanged(db)`
    UPDATE backfills
    SET state = ${state}, published_seq = ${lastSeq}, ended_at = service_now(), lease_token = NULL, lease_until = NULL,
      scanned_at = CASE WHEN ${state} = 'done' THEN to_at ELSE scanned_at END
    WHERE id = ${id} AND lease_token = ${leaseToken} AND state = 'running'`;
  if (!isOurs) throw new BackfillLeaseLost(id);
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
