import type { Queryable } from '../../postgres/pool.ts';
import type { FailingWebhook, NamedMonitor } from './notice-causes.ts';
import type { RecoveredWebhook } from './webhook-alarms.ts';

/** What a mail says, by kind; stored until the mail is settled. */
export type NoticeFacts =
  | { kind: 'low_balance'; balance: number; activeMonitors: number; readingCredits: number }
  | { kind: 'monitor_paused'; monitors: NamedMonitor[]; balance: number; activeMonitors: number }
  | { kind: 'webhook_failing'; webhooks: FailingWebhook[] }
  | { kind: 'webhook_recovered'; webhooks: RecoveredWebhook[] };

/** A notice that this process mails now. */
export interface LeasedNotice {
  accountId: string;
  /** The UTC day, YYYY-MM-DD. */
  day: string;
  leaseToken: string;
  facts: NoticeFacts;
  foundAt: Date;
  /** Including this one. */
  attempts: number;
  /** Undefined when the account is deleted. */
  email: string | undefined;
  isSwitchedOff: boolean;
  isExpired: boolean;
}

/** Why a notice is not mailed any more. */
export type NoticeOutcome = 'sent' | 'expired' | 'unwanted';

/**
 * Stores a notice for mailing, unless the account had one of its kind on this UTC day. The insert is the claim: of
 * concurrent callers one succeeds.
 *
 * @returns whether it was stored
 */
export async function claimNotice(db: Queryable, accountId: string, facts: NoticeFacts): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO notices (account_id, kind, day, facts)
     VALUES ($1, $2, (service_now() AT TIME ZONE 'UTC')::date, $3)
     ON CONFLICT DO NOTHING`,
    [accountId, facts.kind, facts],
  );
  return rowCount === 1;
}

/**
 * Leases notices that wait to be mailed, the longest waiting first. A notice whose process dies is leased again after
 * `leaseSeconds`, then after twice as long each time, at most an hour: while PostgreSQL takes leases but no outcomes,
 * as with a full disk, a notice must not be mailed each minute.
 *
 * @param expirySeconds a notice that was found longer ago is expired
 */
export async function leaseNotices(
  db: Queryable,
  { limit, leaseSeconds, expirySeconds }: { limit: number; leaseSeconds: number; expirySeconds: number },
): Promise<LeasedNotice[]> {
  const { rows } = await db.query<Omit<LeasedNotice, 'email'> & { email: string | null }>({
    name: 'notices-lease',
    text: `WITH waiting AS MATERIALIZED (
             SELECT account_id, kind, day
             FROM notices
             WHERE outcome IS NULL AND next_attempt_at <= (SELECT service_now())
             ORDER BY next_attempt_at
             LIMIT $1
             FOR UPDATE SKIP LOCKED
           ), leased AS (
             UPDATE notices n
             SET lease_token = gen_random_uuid(), attempts = n.attempts + 1,
                 next_attempt_at =
                   service_now() + make_interval(secs => least(3600, $2::float8 * 2 ^ least(n.attempts, 6)))
             FROM waiting w
             WHERE n.account_id = w.account_id AND n.kind = w.kind AND n.day = w.day
             RETURNING n.*
           )
           SELECT l.account_id AS "accountId", l.day::text AS day, l.lease_token AS "leaseToken", l.facts,
             l.found_at AS "foundAt", l.attempts, a.email,
             EXISTS (SELECT FROM notice_opt_outs o WHERE o.account_id = l.account_id AND o.kind = l.kind) AS "isSwitchedOff",
             l.found_at <= (SELECT service_now()) - make_interval(secs => $3) AS "isExpired"
           FROM leased l
           LEFT JOIN accounts a ON a.id = l.account_id AND a.status <> 'deleted'`,
    values: [limit, leaseSeconds, expirySeconds],
  });
  return rows.map((row) => ({ ...row, email: row.email ?? undefined }));
}

/** Ends a notice, and forgets what it said. Returns false when its lease was lost. */
export async function settleNotice(db: Queryable, leaseToken: string, outcome: NoticeOutcome): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE notices SET outcome = $2, facts = '{}', lease_token = NULL WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, outcome],
  );
  return rowCount === 1;
}

/** Makes a notice that could not be mailed wait for another attempt. */
export async function retryNotice(db: Queryable, leaseToken: string, delaySeconds: number): Promise<void> {
  await db.query(
    `UPDATE notices SET lease_token = NULL, next_attempt_at = service_now() + make_interval(secs => $2)
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, delaySeconds],
  );
}

/** How many notices wait to be mailed, counted up to `most`. */
export async function countWaitingNotices(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM (SELECT FROM notices WHERE outcome IS NULL LIMIT $1) AS waiting',
    [most],
  );
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
