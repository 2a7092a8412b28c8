import type { WebhookKind } from '../../schemas/api/monitors.ts';
import type { MonitorMatch } from '../../schemas/messages/monitor-match.ts';
import { BEYOND_LEASES } from '../maintenance/leases.ts';
import { matchResource } from '../matches/rules/match-resource.ts';
import type { StoredMatch } from '../matches/rules/match-resource.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';

/** Where a monitor's matches are sent now. The URL is null when the monitor is deleted or has no webhook. */
export interface DeliveryTarget {
  monitorId: string;
  webhookUrl: string | null;
  /** Null when the monitor is deleted. */
  accountId: string | null;
  /** Whether the last attempt of the newest attempted match was answered within a second; null when there is none. */
  isAnswering: boolean | null;
}

/** One step of the walk over the monitors that have pending matches. */
export interface QueuePage {
  /** Monitors with a match whose attempt is due and that has no live lease, or one of a clock that was ahead. */
  due: DeliveryTarget[];
  /** The monitor after which the next step continues; null when the walk is complete. */
  next: string | null;
}

/**
 * Reads up to `limit` monitors after `after` (by id, '' for the start) that have pending matches. It is a loose index
 * scan: one probe of matches_pending finds the next monitor, and another finds out whether one of its rows is due,
 * however many rows an unreachable endpoint has accumulated.
 */
export async function readDueMonitors(db: Queryable, after: string, limit: number): Promise<QueuePage> {
  const rows = await readRows<DeliveryTarget & { isDue: boolean }>(db, 'deliveries-read-due-monitors')`
    WITH RECURSIVE walk AS (
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > ${after}
        ORDER BY m.monitor_id LIMIT 1
      ) AS monitor_id, 1 AS step
      UNION ALL
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > walk.monitor_id
        ORDER BY m.monitor_id LIMIT 1
      ), walk.step + 1
      FROM walk
      WHERE walk.monitor_id IS NOT NULL AND walk.step < ${limit}
    )
    SELECT walk.monitor_id AS "monitorId",
      EXISTS (
        SELECT FROM matches m
        WHERE m.monitor_id = walk.monitor_id AND m.delivery_status = 'pending'
          AND m.next_attempt_at <= (SELECT service_now())
          AND (m.lease_until IS NULL OR m.lease_until <= (SELECT service_now())
            OR m.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
      ) AS "isDue",
      w.webhook_url AS "webhookUrl", w.account_id AS "accountId",
      (
        SELECT a.status > 0 AND a.duration_ms < 1000 FROM delivery_attempts a
        WHERE a.monitor_id = walk.monitor_id ORDER BY a.seq DESC, a.attempt DESC LIMIT 1
      ) AS "isAnswering"
    FROM walk
    LEFT JOIN monitors w ON w.id = walk.monitor_id AND w.status <> 'deleted'
    WHERE walk.monitor_id IS NOT NULL
    ORDER BY walk.monitor_id`;
  return {
    due: rows.flatMap(({ isDue, ...target }) => (isDue ? [target] : [])),
    next: rows.length < limit ? null : rows.at(-1)!.monitorId,
  };
}

/** In the order of the given ids. */
export async function readDeliveryTargets(db: Queryable, monitorIds: readonly string[]): Promise<DeliveryTarget[]> {
  const rows = await readRows<DeliveryTarget>(db, 'deliveries-read-targets')`
    SELECT m.id AS "monitorId", m.webhook_url AS "webhookUrl", m.account_id AS "accountId",
      (
        SELECT a.status > 0 AND a.duration_ms < 1000 FROM delivery_attempts a
        WHERE a.monitor_id = m.id ORDER BY a.seq DESC, a.attempt DESC LIMIT 1
      ) AS "isAnswering"
    FROM monitors m
    WHERE m.id = ANY (${monitorIds}::text[]) AND m.status <> 'deleted'`;
  const targets = new Map(rows.map((target) => [target.monitorId, target]));
  return monitorIds.map(
    (monitorId) => targets.get(monitorId) ?? { monitorId, webhookUrl: null, accountId: null, isAnswering: null },
  );
}

/** Deliveries whose attempt is due, and those under way. */
export interface DueDeliveries {
  /** At most `MAX_DUE` of each of `MAX_MONITORS` monitors are counted. */
  due: number;
  /** How long the oldest of them has been due, in milliseconds; null without any. */
  oldestMs: number | null;
  /** Attempts under way now, among the oldest due deliveries. */
  underWay: number;
}

const MAX_MONITORS = 1_000;
const MAX_DUE = 100;

/** Reads a bounded part of those that wait, by a loose index scan like `readDueMonitors`. */
export async function countDueDeliveries(db: Queryable): Promise<DueDeliveries> {
  const rows = await readRows<DueDeliveries>(db)`
    WITH RECURSIVE walk AS (
      SELECT (
        SELECT m.monitor_id FROM matches m WHERE m.delivery_status = 'pending' ORDER BY m.monitor_id LIMIT 1
      ) AS monitor_id, 1 AS step
      UNION ALL
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > walk.monitor_id
        ORDER BY m.monitor_id LIMIT 1
      ), walk.step + 1
      FROM walk
      WHERE walk.monitor_id IS NOT NULL AND walk.step < ${MAX_MONITORS}
    ), oldest AS (
      SELECT o.next_attempt_at, coalesce(o.lease_until > (SELECT service_now()), false) AS is_under_way
        FROM walk
       CROSS JOIN LATERAL (
         SELECT m.next_attempt_at, m.lease_until FROM matches m
          WHERE m.monitor_id = walk.monitor_id AND m.delivery_status = 'pending'
            AND m.next_attempt_at <= (SELECT service_now())
          ORDER BY m.next_attempt_at LIMIT ${MAX_DUE}
       ) AS o
    )
    SELECT count(*) FILTER (WHERE NOT is_under_way) AS due,
           (extract(epoch FROM (SELECT service_now()) - min(next_attempt_at) FILTER (WHERE NOT is_under_way)) *
             1000)::float8
             AS "oldestMs",
           count(*) FILTER (WHERE is_under_way) AS "underWay"
      FROM oldest`;
  return rows[0] ?? { due: 0, oldestMs: null, underWay: 0 };
}

/** A match that only this process may try to deliver until its lease ends. */
export interface ClaimedDelivery {
  monitorId: string;
  seq: number;
  leaseToken: string;
  /** Attempts made so far, including those before a resend. */
  attempt: number;
  /** Attempts made since the match was last queued. */
  retryStep: number;
  /** The owner queued it again. */
  isResent: boolean;
  monitorName: string;
  webhookUrl: string;
  webhookKind: WebhookKind;
  /** Sealed secrets: the current one first, then the previous one while it is still valid. */
  sealedSecrets: [Buffer, ...Buffer[]];
  enteredAt: Date;
  firstSeenAt: Date;
  /** The match as a page would show it now. */
  match: MonitorMatch;
}

/** Only pending matches are claimed, and suppressed matches are never pending. */
const CLAIMED_STATE = {
  suppressed: false,
  suppressedReason: null,
  deliveryStatus: 'pending',
  deliveredAt: null,
} as const;

const SKIP_BATCH_SIZE = 1_000;

type ClaimRow = Omit<StoredMatch, keyof typeof CLAIMED_STATE> &
  Omit<ClaimedDelivery, 'leaseToken' | 'sealedSecrets' | 'match'> & {
    webhookSecret: Buffer;
    previousSecret: Buffer | null;
  };

/** Pieces of both claims: of a monitor `w`, of a match `m` with its target `t`, and of the claimed match `c`. */
const TARGET = sql`w.name AS monitor_name, w.webhook_url, w.webhook_kind, w.webhook_secret,
  CASE WHEN w.previous_secret_until > (SELECT service_now()) THEN w.previous_webhook_secret END AS previous_secret`;
const TAKEN = sql`m.monitor_id, m.seq, m.thing_id, m.kind, m.entered_at, m.first_seen_at, m.created_at, m.matched_terms, m.backfill,
  m.attempt, m.ladder_step, m.resent, t.monitor_name, t.webhook_url, t.webhook_kind, t.webhook_secret, t.previous_secret`;
const CLAIMED = sql`SELECT c.monitor_id AS "monitorId", c.seq, c.thing_id AS "thingId", c.kind, c.entered_at AS "enteredAt",
  c.first_seen_at AS "firstSeenAt", c.created_at AS "createdAt", c.matched_terms AS "matchedTerms", c.backfill, c.attempt,
  c.ladder_step AS "retryStep", c.resent AS "isResent", c.monitor_name AS "monitorName",
  c.webhook_url AS "webhookUrl", c.webhook_kind AS "webhookKind", c.webhook_secret AS "webhookSecret",
  c.previous_secret AS "previousSecret", coalesce(i.post_id, '') AS "postId",
  coalesce(i.subreddit, '') AS subreddit, coalesce(i.author, '[deleted]') AS author,
  coalesce(i.title, '') AS title, coalesce(i.body, '') AS body, coalesce(i.permalink, '') AS permalink,
  coalesce(i.created_utc, c.entered_at) AS "createdUtc"
FROM claimed c
LEFT JOIN matched_items i ON i.thing_id = c.thing_id`;

export interface ClaimLease {
  /** A new UUID for this claim. */
  token: string;
  lengthMs: number;
}

/**
 * Claims matches that were just recorded: those of the given seqs that are pending, were never attempted and are not
 * leased. Rows locked by another process are skipped. Matches of a monitor that is deleted or has no webhook are not
 * claimed. Sorted by seq within each monitor.
 *
 * The planner knows neither how many matches are asked for (`(SELECT $1)`) nor that the state is that of
 * matches_pending (CASE), and so looks each one up by the primary key. Otherwise it takes the index of pending matches,
 * which it believes to be nearly empty since most matches are delivered, and reads all that wait for each one.
 */
export async function claimNewMatches(
  db: Queryable,
  claims: readonly { monitorId: string; seqs: readonly number[] }[],
  lease: ClaimLease,
): Promise<ClaimedDelivery[]> {
  const rows = await readRows<ClaimRow>(db, 'deliveries-claim-new')`
    WITH target AS (
      SELECT m.monitor_id, m.seq, ${TARGET}
      FROM unnest((SELECT ${claims.flatMap(({ monitorId, seqs }) => seqs.map(() => monitorId))}::text[]),
        (SELECT ${claims.flatMap(({ seqs }) => seqs)}::bigint[])) AS recorded (monitor_id, seq)
      JOIN matches m ON m.monitor_id = recorded.monitor_id AND m.seq = recorded.seq
      JOIN monitors w ON w.id = m.monitor_id
      WHERE CASE WHEN m.delivery_status = 'pending'
          THEN m.attempt = 0 AND (m.lease_until IS NULL OR m.lease_until <= (SELECT service_now())) END
        AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL
      ORDER BY m.monitor_id, m.seq
      FOR UPDATE OF m SKIP LOCKED
    ), claimed AS (
      UPDATE matches m
      SET lease_token = ${lease.token},
        lease_until = (SELECT service_now()) + ${lease.lengthMs} * interval '1 millisecond'
      FROM target t
      WHERE m.monitor_id = t.monitor_id AND m.seq = t.seq
      RETURNING ${TAKEN}
    )
    ${CLAIMED}
    ORDER BY c.monitor_id, c.seq`;
  return rows.map((row) => toClaimedDelivery(row, lease.token));
}

/**
 * Claims up to `limit` matches of each monitor whose next attempt is due: the longest due first, then by seq. Rows
 * locked by another process are skipped. Matches of a monitor that is deleted or has no webhook are not claimed. Of a
 * lease that was given while the clock was ahead (`BEYOND_LEASES`) only the end changes. The number of monitors is
 * hidden from the planner, as in `claimNewMatches`.
 */
export async function claimDueMatches(
  db: Queryable,
  claims: readonly { monitorId: string; limit: number }[],
  lease: ClaimLease,
): Promise<ClaimedDelivery[]> {
  const rows = await readRows<ClaimRow>(db, 'deliveries-claim-due')`
    WITH target AS (
      SELECT w.id AS monitor_id, due.seq, ${TARGET}
      FROM unnest((SELECT ${claims.map(({ monitorId }) => monitorId)}::text[]),
        (SELECT ${claims.map(({ limit }) => limit)}::integer[])) AS claim (monitor_id, max_matches)
      JOIN monitors w ON w.id = claim.monitor_id
      CROSS JOIN LATERAL (
        SELECT m.seq
        FROM matches m
        WHERE m.monitor_id = w.id AND m.delivery_status = 'pending' AND m.next_attempt_at <= (SELECT service_now())
          AND (m.lease_until IS NULL OR m.lease_until <= (SELECT service_now())
            OR m.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
        ORDER BY m.next_attempt_at, m.seq
        LIMIT claim.max_matches
        FOR UPDATE SKIP LOCKED
      ) due
      WHERE w.status <> 'deleted' AND w.webhook_url IS NOT NULL
    ), claimed AS (
      UPDATE matches m
      SET lease_until = (SELECT service_now()) + ${lease.lengthMs} * interval '1 millisecond',
        lease_token = CASE WHEN m.lease_until > (SELECT service_now()) THEN m.lease_token ELSE ${lease.token}::uuid END
      FROM target t
      WHERE m.monitor_id = t.monitor_id AND m.seq = t.seq
      RETURNING ${TAKEN}, m.lease_token
    )
    ${CLAIMED}
    WHERE c.lease_token = ${lease.token}::uuid
    ORDER BY c.monitor_id, c.seq`;
  return rows.map((row) => toClaimedDelivery(row, lease.token));
}

function toClaimedDelivery(row: ClaimRow, leaseToken: string): ClaimedDelivery {
  const { monitorId, seq, attempt, retryStep, isResent, monitorName, webhookUrl, webhookKind, enteredAt, firstSeenAt } =
    row;
  return {
    ...{ monitorId, seq, leaseToken, attempt, retryStep, isResent, monitorName, webhookUrl, webhookKind },
    ...{ enteredAt, firstSeenAt },
    sealedSecrets: row.previousSecret ? [row.webhookSecret, row.previousSecret] : [row.webhookSecret],
    match: matchResource(monitorId, Object.assign(row, CLAIMED_STATE)),
  };
}

/** Releases claimed matches that were not attempted, so that another process can claim them before the lease ends. */
export async function releaseLeases(
  db: Queryable,
  monitorId: string,
  seqs: readonly number[],
  leaseToken: string,
): Promise<void> {
  await execute(db)`
    UPDATE matches SET lease_token = NULL, lease_until = NULL
    WHERE monitor_id = ${monitorId} AND seq = ANY (${seqs}::bigint[]) AND lease_token = ${leaseToken}`;
}

/**
 * Sets a monitor's pending matches to skipped when the monitor is deleted or has no webhook. Matches with a live lease
 * stay as they are. Changes at most 1,000 matches; returns whether there may be more.
 */
export async function skipUndeliverable(db: Queryable, monitorId: string): Promise<boolean> {
  const skipped = await execute(db)`
    WITH target AS (
      SELECT m.monitor_id, m.seq
      FROM matches m
      WHERE m.monitor_id = ${monitorId} AND m.delivery_status = 'pending'
        AND (m.lease_until IS NULL OR m.lease_until <= (SELECT service_now()))
        AND NOT EXISTS (
          SELECT FROM monitors w WHERE w.id = ${monitorId} AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL)
      ORDER BY m.seq
      LIMIT ${SKIP_BATCH_SIZE}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE matches m
    SET delivery_status = 'skipped', next_attempt_at = NULL, lease_token = NULL, lease_until = NULL
    FROM target t
    WHERE m.monitor_id = t.monitor_id AND m.seq = t.seq`;
  return skipped === SKIP_BATCH_SIZE;
}
