import type { ArchivePosition } from '../archive/archived-candidates.ts';
import type { ChargedRequest } from '../billing/ledger.ts';
import type { TopicOffsets } from '../maintenance/erasure.ts';
import { BEYOND_LEASES } from '../maintenance/leases.ts';
import type { Rule } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRow, readRows, sql } from '../postgres/sql.ts';

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
  /** How many of the matches are delivered. */
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

export interface AwaitedOffsets {
  /** Heads of the topics of items when the run was first taken up. */
  items: TopicOffsets;
  /** Head of monitor.candidates when the matcher had reached `items`; absent before. */
  candidates?: TopicOffsets;
}

/** What a run has done; committed together with its matches. */
export interface BackfillProgress {
  position: ArchivePosition | undefined;
  matches: number;
  delivered: number;
  alreadyKnown: number;
  credits: number;
  firstSeq: number | undefined;
  lastSeq: number | undefined;
  /** The matches up to here are on monitor.matches. */
  publishedSeq: number | undefined;
}

/** A run that only this process works on until its lease ends. */
export interface ClaimedBackfill extends BackfillProgress {
  id: string;
  leaseToken: string;
  monitorId: string;
  accountId: string;
  version: number;
  rule: Rule;
  from: Date;
  to: Date;
  /** Whether `to` is when the run was asked for. */
  untilNow: boolean;
  deliver: boolean;
  maxCredits: number | undefined;
  awaited: AwaitedOffsets | undefined;
  request: ChargedRequest;
}

type Absent = 'maxCredits' | 'awaited' | 'firstSeq' | 'lastSeq' | 'publishedSeq';

type ClaimRow = Omit<ClaimedBackfill, 'position' | 'request' | Absent> & {
  [Field in Absent]: ClaimedBackfill[Field] | null;
} & {
  scannedAt: Date | null;
  scannedThing: string | null;
  requestId: string;
  route: string;
  keyId: string | null;
};

/** Whether there is any run that a claim might find: one statement instead of a claim's four, for who asks again. */
export async function hasBackfills(db: Queryable): Promise<boolean> {
  const rows = await readRows<{ found: boolean }>(db)`
    SELECT EXISTS (SELECT FROM backfills WHERE state = 'running') AS found`;
  return rows[0]?.found === true;
}

/**
 * Claims a run that nobody works on: a cancelled one, which only has to end; else, of the account that waited
 * longest, the oldest. An account has one run under way at a time, in all processes together. A lease that was
 * given while the clock was ahead ends a whole lease from now. Run it in a transaction.
 *
 * @param leaseToken a new UUID
 * @returns undefined also while another claim is under way: whoever waited for it would hold a connection, and many
 *   together would wait beyond the limit for locks
 */
export async function claimBackfill(
  db: Queryable,
  leaseToken: string,
  leaseSeconds: number,
): Promise<ClaimedBackfill | undefined> {
  // Two claims at once would not see that they take two runs of one account.
  const locks = await readRows<{ isMine: boolean }>(db)`
    SELECT pg_try_advisory_xact_lock(hashtext('backfill claims')) AS "isMine"`;
  if (locks[0]?.isMine !== true) return undefined;
  const rows = await readRows<ClaimRow>(db)`
    WITH clock AS MATERIALIZED (SELECT service_now() AS now), turns AS (
      SELECT account_id, max(taken_at) AS last, bool_or(lease_until > clock.now) AS is_busy
      FROM backfills, clock WHERE state = 'running' GROUP BY account_id
    ), shortened AS (
      UPDATE backfills SET lease_until = clock.now + make_interval(secs => ${leaseSeconds}) FROM clock
      WHERE state = 'running' AND lease_until > clock.now + ${BEYOND_LEASES}
    ), chosen AS (
      SELECT b.id FROM clock, backfills b JOIN turns t ON t.account_id = b.account_id
      WHERE b.state = 'running' AND b.next_at <= clock.now AND CASE WHEN b.cancelled_at IS NULL
        THEN NOT coalesce(t.is_busy, false)
        ELSE coalesce(b.lease_until <= clock.now, true) END
      ORDER BY b.cancelled_at IS NULL, t.last NULLS FIRST, b.taken_at NULLS FIRST, b.created_at, b.id
      LIMIT 1
      FOR UPDATE OF b SKIP LOCKED
    )
    UPDATE backfills b
    SET lease_token = ${leaseToken}, lease_until = clock.now + make_interval(secs => ${leaseSeconds}),
      taken_at = clock.now
    FROM chosen, clock
    WHERE b.id = chosen.id
    RETURNING b.id, b.lease_token AS "leaseToken", b.monitor_id AS "monitorId", b.account_id AS "accountId", b.version,
      b.rule, b.from_at AS "from", b.to_at AS "to", b.until_now AS "untilNow", b.deliver, b.max_credits AS "maxCredits",
      b.awaited_offsets AS awaited, b.scanned_at AS "scannedAt", b.scanned_thing AS "scannedThing", b.matches,
      b.delivered, b.already_known AS "alreadyKnown", b.credits, b.first_seq AS "firstSeq", b.last_seq AS "lastSeq",
      b.published_seq AS "publishedSeq", b.request_id AS "requestId", b.route, b.key_id AS "keyId"`;
  if (rows[0] === undefined) return undefined;
  const { scannedAt, scannedThing, requestId, route, keyId, ...run } = rows[0];
  return {
    ...run,
    maxCredits: run.maxCredits ?? undefined,
    awaited: run.awaited ?? undefined,
    firstSeq: run.firstSeq ?? undefined,
    lastSeq: run.lastSeq ?? undefined,
    publishedSeq: run.publishedSeq ?? undefined,
    position:
      scannedAt && scannedThing !== null ? { firstSeenAt: scannedAt.toISOString(), thingId: scannedThing } : undefined,
    request: { requestId, route, keyId: keyId ?? undefined },
  };
}

type Lease = Pick<ClaimedBackfill, 'id' | 'leaseToken'>;

/** Renews the lease. Returns false when another process has taken it, or the run was deleted. */
export async function renewBackfillLease(db: Queryable, { id, leaseToken }: Lease, seconds: number): Promise<boolean> {
  return isChanged(db)`
    UPDATE backfills SET lease_until = service_now() + make_interval(secs => ${seconds})
    WHERE id = ${id} AND lease_token = ${leaseToken} AND state = 'running'`;
}

/** Gives the run back, to be taken up again after `seconds`. */
export async function releaseBackfill(db: Queryable, { id, leaseToken }: Lease, seconds: number): Promise<void> {
  await execute(db)`
    UPDATE backfills SET lease_token = NULL, lease_until = NULL,
      next_at = service_now() + make_interval(secs => ${seconds})
    WHERE id = ${id} AND lease_token = ${leaseToken}`;
}

/**
 * Gives the run back after an error of ours, to be taken up again after `seconds`, or as failed after `most` such
 * errors without any progress. Returns whether it failed.
 */
export async function releaseFaultyBackfill(
  db: Queryable,
  { id, leaseToken }: Lease,
  { seconds, most }: { seconds: number; most: number },
): Promise<boolean> {
  const rows = await readRows<{ failed: boolean }>(db)`
    UPDATE backfills
    SET lease_token = NULL, lease_until = NULL, next_at = service_now() + make_interval(secs => ${seconds}),
      faults = faults + 1, state = CASE WHEN faults + 1 >= ${most} THEN 'failed' ELSE state END,
      ended_at = CASE WHEN faults + 1 >= ${most} THEN service_now() END
    WHERE id = ${id} AND lease_token = ${leaseToken} AND state = 'running'
    RETURNING state = 'failed' AS failed`;
  return rows[0]?.failed ?? false;
}

/** Another process works on the run, or it was deleted. Roll the transaction back. */
export class BackfillLeaseLost extends Error {
  override name = 'BackfillLeaseLost';

  constructor(id: string) {
    super(`the run ${id} is not leased by this process any more`);
  }
}

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
