import type { DigestPeriod } from '../../../schemas/api/monitors/monitor-options.ts';
import type { WebhookKind } from '../../../schemas/api/monitor.ts';
import type { Spike } from '../../../schemas/messages/monitor-event.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { execute, readRows } from '../../postgres/sql.ts';
import { BEYOND_LEASES } from '../upkeep/leases.ts';

/** What the body of a digest is built from. */
export interface StoredDigest {
  period: DigestPeriod;
  after: number;
  until: number;
  /** Matches in the range when the digest was made. */
  count: number;
  /** The page with all of them. */
  url: string;
}

type StoredEvent = { kind: 'monitor.spike'; payload: Spike } | { kind: 'monitor.digest'; payload: StoredDigest };

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

/** Where the events of a monitor are sent now. The URL is null when the monitor is deleted or has no webhook. */
export interface EventTarget {
  monitorId: string;
  webhookUrl: string | null;
  /** Null when the monitor is deleted. */
  accountId: string | null;
  /** Not known of events. */
  isAnswering: null;
}

/**
 * Reads up to `limit` monitors after `after` (by id, '' for the start) with an event whose attempt is due and that has
 * no live lease, or one of a clock that was ahead.
 */
export async function readDueEventMonitors(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ due: EventTarget[]; next: string | null }> {
  const { rows } = await db.query<EventTarget>({
    name: 'events-read-due-monitors',
    text: `
      SELECT due.monitor_id AS "monitorId", m.webhook_url AS "webhookUrl", m.account_id AS "accountId",
        NULL AS "isAnswering"
      FROM (
        SELECT DISTINCT e.monitor_id FROM monitor_events e
        WHERE e.delivery_status = 'pending' AND e.monitor_id > $1 AND e.next_attempt_at <= (SELECT service_now())
          AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now())
            OR e.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
        ORDER BY e.monitor_id
        LIMIT $2
      ) AS due
      LEFT JOIN monitors m ON m.id = due.monitor_id AND m.status <> 'deleted'
      ORDER BY due.monitor_id`,
    values: [after, limit],
  });
  return { due: rows, next: rows.length < limit ? null : rows.at(-1)!.monitorId };
}

/** Returns where a monitor's events are sent now. */
export async function readEventTarget(db: Queryable, monitorId: string): Promise<EventTarget> {
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
  const { rows } = await db.query<ClaimRow>({
    name: 'events-claim-due',
    text: `
      WITH target AS (
        SELECT e.seq, w.name, w.webhook_url, w.webhook_kind, w.webhook_secret,
          CASE WHEN w.previous_secret_until > (SELECT service_now()) THEN w.previous_webhook_secret END AS previous_secret
        FROM monitor_events e JOIN monitors w ON w.id = e.monitor_id
        WHERE e.monitor_id = $1 AND e.delivery_status = 'pending' AND e.next_attempt_at <= (SELECT service_now())
          AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now())
            OR e.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
          AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL
        ORDER BY e.seq
        LIMIT $2
        FOR UPDATE OF e SKIP LOCKED
      ), claimed AS (
        UPDATE monitor_events e
        SET lease_until = (SELECT service_now()) + $4 * interval '1 millisecond',
          lease_token = CASE WHEN e.lease_until > (SELECT service_now()) THEN e.lease_token ELSE $3::uuid END
        FROM target t
        WHERE e.seq = t.seq
        RETURNING e.id, e.monitor_id AS "monitorId", e.seq, e.lease_token AS "leaseToken", e.kind, e.payload, e.attempt,
          t.name AS "monitorName", t.webhook_url AS "webhookUrl", t.webhook_kind AS "webhookKind",
          t.webhook_secret AS "webhookSecret", t.previous_secret AS "previousSecret"
      )
      SELECT * FROM claimed WHERE "leaseToken" = $3::uuid ORDER BY seq`,
    values: [monitorId, limit, lease.token, lease.lengthMs],
  });
  return rows.map(({ webhookSecret, previousSecret, ...row }) => ({
    ...(row as Omit<ClaimedEvent, 'sealedSecrets'>),
    sealedSecrets: previousSecret ? [webhookSecret, previousSecret] : [webhookSecret],
  })) as ClaimedEvent[];
}

/** Releases claimed events that were not attempted. */
export async function releaseEvents(db: Queryable, events: readonly ClaimedEvent[]): Promise<void> {
  await execute(db)`
    UPDATE monitor_events e SET lease_token = NULL, lease_until = NULL
    FROM unnest(${events.map(({ seq }) => seq)}::bigint[],
      ${events.map(({ leaseToken }) => leaseToken)}::uuid[]) AS given (seq, token)
    WHERE e.seq = given.seq AND e.lease_token = given.token`;
}

/** Sets a monitor's pending events to skipped when the monitor is deleted or has no webhook, except leased ones. */
export async function skipUndeliverableEvents(db: Queryable, monitorId: string): Promise<void> {
  await db.query(
    `UPDATE monitor_events e SET delivery_status = 'skipped', next_attempt_at = NULL
     WHERE e.monitor_id = $1 AND e.delivery_status = 'pending'
       AND (e.lease_until IS NULL OR e.lease_until <= (SELECT service_now()))
       AND NOT EXISTS (
         SELECT FROM monitors w WHERE w.id = $1 AND w.status <> 'deleted' AND w.webhook_url IS NOT NULL)`,
    [monitorId],
  );
}
