import type { WebhookKind } from '../../schemas/api/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRow } from '../postgres/sql.ts';

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
