import type { DigestPeriod, WebhookKind } from '../../schemas/api/monitors.ts';
import type { Spike } from '../../schemas/messages/monitor-event.ts';
import { BEYOND_LEASES } from '../maintenance/leases.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../postgres/sql.ts';
import { newEventId } from '../rules/identifiers.ts';
import { FAILURES_UNTIL_FAILING } from './delivery-outcomes.ts';
import type { DeliveryTarget, QueuePage } from './pending-deliveries.ts';

export interface StoredDigest {
  period: DigestPeriod;
  after: number;
  until: number;
  /** Matches in the range when the digest was made. */
  count: number;
  /** The page with all of them. */
  url: string;
}

export type StoredEvent = { kind: 'monitor.spike'; payload: Spike } | { kind: 'monitor.digest'; payload: StoredDigest };

/** An event that only this process may try to deliver until its lease ends. */
export type ClaimedEvent = StoredEvent & {
  id: string;
  monitorId: string;
  /** Order within the monitor. */
  seq: number;
  leaseToken: string;
  /** Attempts made so far. */
  attempt: number;
  monitorName: string;
  webhookUrl: string;
  webhookKind: WebhookKind;
  /** Sealed secrets: the current one first, then the previous one while it is still valid. */
  sealedSecrets: [Buffer, ...Buffer[]];
};

type ClaimRow = Omit<ClaimedEvent, 'sealedSecrets'> & { webhookSecret: Buffer; previousSecret: Buffer | null };

/**
 * Reads up to `limit` monitors after `after` (by id, '' for the start) with an event whose attempt is due and that has
 * no live lease, or one of a clock that was ahead. Events do not say whether their receiver answers.
 */
export async function readDueEventMonitors(db: Queryable, after: string, limit: number): Promise<QueuePage> {
  const rows = await readRows<DeliveryTarget>(db, 'events-read-due-monitors')`
    SELECT due.monitor_id AS "monitorId", m.webhook_url AS "webhookUrl", m.account_id AS "accountId",
      NULL AS "isAnswering"
    FROM (
      SELECT DISTINCT e.monitor_id FROM monitor_events e
      WHERE e.delivery_status = 'pending' AND e.monitor_id > ${after} AND e.next_attempt_at <= (SELECT service_now())
        AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now())
          OR e.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
      ORDER BY e.monitor_id
      LIMIT ${limit}
    ) AS due
    LEFT JOIN monitors m ON m.id = due.monitor_id AND m.status <> 'deleted'
    ORDER BY due.monitor_id`;
  return { due: rows, next: rows.length < limit ? null : rows.at(-1)!.monitorId };
}

export async function readEventTarget(db: Queryable, monitorId: string): Promise<DeliveryTarget> {
  const rows = await readRows<{ url: string | null; accountId: string }>(db)`
    SELECT webhook_url AS url, account_id AS "accountId" FROM monitors WHERE id = ${monitorId} AND status <> 'deleted'`;
  return { monitorId, webhookUrl: rows[0]?.url ?? null, accountId: rows[0]?.accountId ?? null, isAnswering: null };
}

/**
 * Claims up to `limit` events of a monitor whose next attempt is due, in their order. Rows locked by another process
 * are skipped. Events of a monitor that is deleted or has no webhook are not claimed. Of a lease that was given while
 * the clock was ahead (`BEYOND_LEASES`) only the end changes.
 */
export async function claimDueEvents(
  db: Queryable,
  { monitorId, limit }: { monitorId: string; limit: number },
  lease: { token: string; lengthMs: number },
): Promise<ClaimedEvent[]> {
  const rows = await readRows<ClaimRow>(db, 'events-claim-due')`
    WITH target AS (
      SELECT e.seq, w.name, w.webhook_url, w.webhook_kind, w.webhook_secret,
        CASE WHEN w.previous_secret_until > (SELECT service_now()) THEN w.previous_webhook_secret END AS previous_secret
      FROM monitor_events e JOIN monitors w ON w.id = e.monitor_id
      WHERE e.monitor_id = ${monitorId} AND e.delivery_status = 'pending'
        AND e.next_attempt_at <= (SELECT service_now())
        AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now())
          OR e.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
        AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL
      ORDER BY e.seq
      LIMIT ${limit}
      FOR UPDATE OF e SKIP LOCKED
    ), claimed AS (
      UPDATE monitor_events e
      SET lease_until = (SELECT service_now()) + ${lease.lengthMs} * interval '1 millisecond',
        lease_token = CASE WHEN e.lease_until > (SELECT service_now()) THEN e.lease_token ELSE ${lease.token}::uuid END
      FROM target t
      WHERE e.seq = t.seq
      RETURNING e.id, e.monitor_id AS "monitorId", e.seq, e.lease_token AS "leaseToken", e.kind, e.payload, e.attempt,
        t.name AS "monitorName", t.webhook_url AS "webhookUrl", t.webhook_kind AS "webhookKind",
        t.webhook_secret AS "webhookSecret", t.previous_secret AS "previousSecret"
    )
    SELECT * FROM claimed WHERE "leaseToken" = ${lease.token}::uuid ORDER BY seq`;
  return rows.map(({ webhookSecret, previousSecret, ...row }) => ({
    ...(row as Omit<ClaimedEvent, 'sealedSecrets'>),
    sealedSecrets: previousSecret ? [webhookSecret, previousSecret] : [webhookSecret],
  })) as ClaimedEvent[];
}

export async function releaseEvents(db: Queryable, events: readonly ClaimedEvent[]): Promise<void> {
  await execute(db)`
    UPDATE monitor_events e SET lease_token = NULL, lease_until = NULL
    FROM unnest(${events.map(({ seq }) => seq)}::bigint[],
      ${events.map(({ leaseToken }) => leaseToken)}::uuid[]) AS given (seq, token)
    WHERE e.seq = given.seq AND e.lease_token = given.token`;
}

/** Sets a monitor's pending events to skipped when the monitor is deleted or has no webhook, except leased ones. */
export async function skipUndeliverableEvents(db: Queryable, monitorId: string): Promise<void> {
  await execute(db)`
    UPDATE monitor_events e SET delivery_status = 'skipped', next_attempt_at = NULL
    WHERE e.monitor_id = ${monitorId} AND e.delivery_status = 'pending'
      AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now()))
      AND NOT EXISTS (
        SELECT FROM monitors w WHERE w.id = ${monitorId} AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL)`;
}

export interface FinishedEventAttempt {
  monitorId: string;
  seq: number;
  leaseToken: string;
  /** Where the attempt was sent. Not stored, because chat URLs are secrets. */
  webhookUrl: string;
  /** 0 when there was no answer. */
  httpStatus: number;
  error: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until the next attempt; null unless pending. */
  delayMs: number | null;
}

/**
 * Stores the outcome of an attempt in one transaction: the health of the endpoint, in which an event counts as a match
 * does, then the state of the event and the end of its lease. An event that would be retried is skipped when its
 * monitor has no webhook any more, as a match is.
 *
 * @returns the number of attempts made; undefined, and nothing is stored, when the lease was lost to another process
 */
export async function recordEventOutcome(pool: Pool, attempt: FinishedEventAttempt): Promise<number | undefined> {
  return inTransaction(pool, async (tx) => {
    await lockHealth(tx, attempt);
    const rows = await readRows<{ attempt: number; isOfPresentUrl: boolean }>(tx, 'events-settle')`
      WITH leased AS (
        SELECT e.seq, coalesce(w.webhook_url = ${attempt.webhookUrl}, false) AS is_present,
          ${attempt.deliveryStatus}::text = 'pending' AND (w.webhook_url IS NULL OR w.status = 'deleted') AS is_skipped
        FROM monitor_events e
        LEFT JOIN monitors w ON w.id = e.monitor_id
        WHERE e.seq = ${attempt.seq} AND e.lease_token = ${attempt.leaseToken}
        FOR UPDATE OF e
      )
      UPDATE monitor_events e
      SET attempt = e.attempt + 1, delivery_status = CASE WHEN leased.is_skipped THEN 'skipped' ELSE
        ${attempt.deliveryStatus}::text END,
        next_attempt_at =
          CASE WHEN NOT leased.is_skipped THEN clock.now + ${attempt.delayMs} * interval '1 millisecond' END,
        delivered_at = CASE WHEN ${attempt.deliveryStatus}::text = 'delivered' THEN clock.now END,
        last_attempt_at = clock.now, last_status = ${attempt.httpStatus}, last_error = ${attempt.error},
        lease_token = NULL, lease_until = NULL
      FROM leased, (SELECT service_now() AS now) AS clock
      WHERE e.seq = leased.seq
      RETURNING e.attempt, leased.is_present AS "isOfPresentUrl"`;
    if (rows[0]?.isOfPresentUrl) await storeHealth(tx, attempt);
    return rows[0]?.attempt;
  });
}

/** A healthy endpoint has no row, so that its deliveries cost no write. */
async function lockHealth(db: Queryable, { monitorId, seq, leaseToken, deliveryStatus }: FinishedEventAttempt) {
  if (deliveryStatus === 'pending') return;
  if (deliveryStatus === 'failed') {
    await execute(db)`
      INSERT INTO monitor_health (monitor_id)
      SELECT monitor_id FROM monitor_events WHERE seq = ${seq} AND lease_token = ${leaseToken}
      ON CONFLICT DO NOTHING`;
  }
  await execute(db)`SELECT FROM monitor_health WHERE monitor_id = ${monitorId} FOR UPDATE`;
}

/** webhook_failing stays set until the owner acts. */
async function storeHealth(db: Queryable, { monitorId, deliveryStatus }: FinishedEventAttempt): Promise<void> {
  if (deliveryStatus === 'delivered') {
    await execute(db)`UPDATE monitor_health SET failures = 0 WHERE monitor_id = ${monitorId} AND failures > 0`;
  }
  if (deliveryStatus === 'failed') {
    await execute(db)`
      UPDATE monitor_health SET failures = failures + 1,
        webhook_failing = webhook_failing OR failures + 1 >= ${FAILURES_UNTIL_FAILING}
      WHERE monitor_id = ${monitorId}`;
  }
}

export type MonitorEventKind = 'monitor.spike' | 'monitor.digest';

export interface NewMonitorEvent {
  monitorId: string;
  kind: MonitorEventKind;
  /** What it is about, so that it is stored once: the hour of a spike, the first seq of a digest. */
  key: string;
  /** The `spike` of the body (monitor.spike), or the range that a digest is built from (monitor.digest). */
  payload: object;
}

/** Returns false when the monitor has one of that kind and key. */
export async function insertMonitorEvent(
  db: Queryable,
  { monitorId, kind, key, payload }: NewMonitorEvent,
): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO monitor_events (id, monitor_id, kind, key, payload, created_at, next_attempt_at)
    SELECT ${newEventId()}, ${monitorId}, ${kind}, ${key}, ${JSON.stringify(payload)}, now,
      now FROM service_now() AS now
    ON CONFLICT (monitor_id, kind, key) DO NOTHING`;
}

export type LoggedEvent = StoredEvent & {
  id: string;
  createdAt: Date;
  deliveryStatus: 'pending' | 'delivered' | 'failed' | 'skipped';
  /** Made so far. */
  attempts: number;
  lastAttemptAt: Date | null;
  /** 0: no answer; null: no attempt. */
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
};

/**
 * Reads the newest events of a monitor, newest first, in the order in which they were stored.
 *
 * @param page.beforeId only those before this event: none when it has expired, as the older ones have too
 * @returns undefined when `beforeId` is an event of another monitor
 */
export async function readEventLog(
  db: Queryable,
  monitorId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): Promise<LoggedEvent[] | undefined> {
  const before = beforeId === undefined ? Number.MAX_SAFE_INTEGER : await readSeq(db, monitorId, beforeId);
  if (before === 'foreign') return undefined;
  if (before === undefined) return [];
  return readRows<LoggedEvent>(db, 'events-read-log')`
    SELECT id, kind, payload, created_at AS "createdAt", delivery_status AS "deliveryStatus", attempt AS attempts,
      last_attempt_at AS "lastAttemptAt", last_status AS "lastStatus", last_error AS "lastError",
      next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
    FROM monitor_events
    WHERE monitor_id = ${monitorId} AND seq < ${before}
    ORDER BY seq DESC
    LIMIT ${limit}`;
}

async function readSeq(db: Queryable, monitorId: string, id: string): Promise<number | 'foreign' | undefined> {
  const event = await readRow<{ seq: number; monitorId: string }>(db)`
    SELECT seq, monitor_id AS "monitorId" FROM monitor_events WHERE id = ${id}`;
  return event === undefined || event.monitorId === monitorId ? event?.seq : 'foreign';
}
