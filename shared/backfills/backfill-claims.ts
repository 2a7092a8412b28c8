import type { Rule } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows } from '../postgres/sql.ts';
import type { ChargedRequest } from '../billing/ledger.ts';
import { BEYOND_LEASES } from '../maintenance/leases.ts';
import type { TopicOffsets } from '../maintenance/erasure.ts';

/** A position in the archive, which is read in the order of (first_seen_at, thing_id). */
export interface ScanPosition {
  /** ISO 8601 with milliseconds. */
  firstSeenAt: string;
  thingId: string;
}

export interface AwaitedOffsets {
  /** Heads of the topics of items when the run was first taken up. */
  items: TopicOffsets;
  /** Head of monitor.candidates when the matcher had reached `items`; absent before. */
  candidates?: TopicOffsets;
}

/** What a run has done; committed together with its matches. */
export interface BackfillProgress {
  position: ScanPosition | undefined;
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
 * Claims a run that nobody works on: a cancelled one, which only has to end; else, of the account that waited longest
 * for its turn, the oldest. An account has one run under way at a time, in all processes together. A lease that was
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

/** Renews the lease. Returns false when another process has taken it, or the run is gone. */
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
