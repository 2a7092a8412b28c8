import type { Queryable } from '../../postgres/pool.ts';
import { isChanged, readRows } from '../../postgres/sql.ts';
import type { FailingWebhook, NamedMonitor } from './notice-causes.ts';
import type { RecoveredWebhook } from './webhook-alarms.ts';

/** What a mail says, by kind; stored until the mail is settled. */
export type NoticeFacts =
  | { kind: 'low_balance'; balance: number; activeMonitors: number; readingCredits: number }
  | { kind: 'monitor_paused'; monitors: NamedMonitor[]; balance: number; activeMonitors: number }
  | { kind: 'webhook_failing'; webhooks: FailingWebhook[] }
  | { kind: 'webhook_recovered'; webhooks: RecoveredWebhook[] };

/**
 * Stores a notice for mailing, unless the account had one of its kind on this UTC day. The insert is the claim: of
 * concurrent callers one succeeds.
 *
 * @returns whether it was stored
 */
export async function claimNotice(db: Queryable, accountId: string, facts: NoticeFacts): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO notices (account_id, kind, day, facts)
    VALUES (${accountId}, ${facts.kind}, (service_now() AT TIME ZONE 'UTC')::date, ${facts})
    ON CONFLICT DO NOTHING`;
}

/** How many notices wait to be mailed, counted up to `most`. */
export async function countWaitingNotices(db: Queryable, most: number): Promise<number> {
  const rows = await readRows<{ count: number }>(db)`
    SELECT count(*)::int AS count FROM (SELECT FROM notices WHERE outcome IS NULL LIMIT ${most}) AS waiting`;
  return rows[0]!.count;
}

/** Deletes everything about notices of an account. Requires the account's lock. */
export async function deleteAccountNotices(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `WITH causes AS (
       DELETE FROM notice_causes WHERE account_id = $1
     ), alarms AS (
       DELETE FROM webhook_alarms WHERE account_id = $1
     ), choices AS (
       DELETE FROM notice_opt_outs WHERE account_id = $1
     )
     DELETE FROM notices WHERE account_id = $1`,
    [accountId],
  );
}
