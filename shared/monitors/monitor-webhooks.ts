import type { WebhookKind } from '../../schemas/api/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow } from '../postgres/sql.ts';

export interface MonitorWebhook {
  name: string;
  /** The first keyword, or the text of the first term when there are no keywords. */
  firstTerm: string;
  webhookUrl: string | null;
  webhookKind: WebhookKind | null;
  /** Encrypted. `previousSecret`: the secret before a rotation while it is still valid. */
  webhookSecret: Buffer;
  previousSecret: Buffer | null;
}

/** undefined when the account has no such monitor or it is deleted. */
export async function readMonitorWebhook(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<MonitorWebhook | undefined> {
  return readRow<MonitorWebhook>(db)`
    SELECT name, coalesce(keywords[1], refinements #>> '{terms,0,text}', '') AS "firstTerm",
      webhook_url AS "webhookUrl", webhook_kind AS "webhookKind", webhook_secret AS "webhookSecret",
      CASE WHEN previous_secret_until > (SELECT service_now()) THEN previous_webhook_secret END AS "previousSecret"
    FROM monitors
    WHERE id = ${id} AND account_id = ${accountId} AND status <> 'deleted'`;
}

/** Replaces the secret. The previous one stays valid for 24 hours. Requires the monitor's lock. */
export async function rotateWebhookSecret(db: Queryable, id: string, sealedSecret: Buffer): Promise<void> {
  await execute(db)`
    UPDATE monitors
    SET previous_webhook_secret = webhook_secret, previous_secret_until = service_now() + interval '24 hours',
      webhook_secret = ${sealedSecret}, updated_at = service_now()
    WHERE id = ${id}`;
}

export interface StoredMonitorStats {
  matchesToday: number;
  suppressedToday: number;
  suppressedNotStored: number;
  matches7d: number;
  deliveryFailures24h: number;
}

/** Matches come from the daily counters; an index has the failed attempts. */
export async function readMonitorStats(db: Queryable, monitorId: string): Promise<StoredMonitorStats> {
  return readOne<StoredMonitorStats>(db)`
    WITH today AS (SELECT ((SELECT service_now()) AT TIME ZONE 'UTC')::date AS day)
    SELECT coalesce(sum(d.matches) FILTER (WHERE d.day >= today.day), 0) AS "matchesToday",
           coalesce(sum(d.suppressed) FILTER (WHERE d.day >= today.day), 0) AS "suppressedToday",
           coalesce(sum(d.suppressed_not_stored) FILTER (WHERE d.day >= today.day), 0)::bigint AS "suppressedNotStored",
           coalesce(sum(d.matches), 0) AS "matches7d",
           (SELECT count(*)
            FROM delivery_attempts a
            WHERE a.monitor_id = ${monitorId} AND a.delivery_status = 'failed'
              AND a.started_at > (SELECT service_now()) - interval '24 hours') AS "deliveryFailures24h"
    FROM today
    LEFT JOIN monitor_days d ON d.monitor_id = ${monitorId} AND d.day > today.day - 7`;
}
