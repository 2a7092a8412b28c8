import type { DigestPeriod } from '../../../schemas/api/monitors/monitor-options.ts';
import type { Queryable } from '../../postgres/pool.ts';
import type { DigestRange } from './digest-matches.ts';

/** What a mail says of one monitor. */
export interface DigestSection extends DigestRange {
  period: DigestPeriod;
  /** Matches in the range when the digest was made. */
  count: number;
}

/** A mail that this process sends now. */
export interface LeasedDigestMail {
  accountId: string;
  leaseToken: string;
  sections: DigestSection[];
  createdAt: Date;
  /** Including this one. */
  attempts: number;
  /** Undefined when the account is deleted. */
  email: string | undefined;
  isExpired: boolean;
}

/** Why a mail is not sent any more. */
export type DigestMailOutcome = 'sent' | 'expired' | 'unwanted';

/**
 * Stores the digests of an account for mailing.
 *
 * @returns false, and stores nothing, while another mail of the account waits
 */
export async function insertDigestMail(
  db: Queryable,
  accountId: string,
  sections: readonly DigestSection[],
): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO digest_mails (account_id, sections) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [accountId, JSON.stringify(sections)],
  );
  return rowCount === 1;
}

/**
 * Leases mails that wait, the longest waiting first. One whose process dies is leased again after `leaseSeconds`, then
 * after twice as long each time, at most an hour: while PostgreSQL takes leases but no outcomes, as with a full disk, a
 * mail must not be sent each minute.
 *
 * @param expirySeconds a mail that was made longer ago is expired
 */
export async function leaseDigestMails(
  db: Queryable,
  { limit, leaseSeconds, expirySeconds }: { limit: number; leaseSeconds: number; expirySeconds: number },
): Promise<LeasedDigestMail[]> {
  const { rows } = await db.query<Omit<LeasedDigestMail, 'email'> & { email: string | null }>({
    name: 'digests-lease-mails',
    text: `WITH waiting AS MATERIALIZED (
             SELECT id FROM digest_mails
             WHERE outcome IS NULL AND next_attempt_at <= (SELECT service_now())
             ORDER BY next_attempt_at
             LIMIT $1
             FOR UPDATE SKIP LOCKED
           ), leased AS (
             UPDATE digest_mails n
             SET lease_token = gen_random_uuid(), attempts = n.attempts + 1,
                 next_attempt_at =
                   service_now() + make_interval(secs => least(3600, $2::float8 * 2 ^ least(n.attempts, 6)))
             FROM waiting w
             WHERE n.id = w.id
             RETURNING n.*
           )
           SELECT l.account_id AS "accountId", l.lease_token AS "leaseToken", l.sections, l.created_at AS "createdAt",
             l.attempts, a.email, l.created_at <= (SELECT service_now()) - make_interval(secs => $3) AS "isExpired"
           FROM leased l
           LEFT JOIN accounts a ON a.id = l.account_id AND a.status <> 'deleted'`,
    values: [limit, leaseSeconds, expirySeconds],
  });
  return rows.map((row) => ({ ...row, email: row.email ?? undefined }));
}

/** Prolongs the lease of a mail. Returns false when it was lost: another process has the mail. */
export async function keepDigestMail(db: Queryable, leaseToken: string, leaseSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE digest_mails SET next_attempt_at = greatest(next_attempt_at, service_now() + make_interval(secs => $2))
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, leaseSeconds],
  );
  return rowCount === 1;
}

/** Ends a mail, and forgets what it said. Returns false when its lease was lost. */
export async function settleDigestMail(
  db: Queryable,
  leaseToken: string,
  outcome: DigestMailOutcome,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE digest_mails SET outcome = $2, sections = '[]', lease_token = NULL
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, outcome],
  );
  return rowCount === 1;
}

/** Makes a mail that could not be sent wait for another attempt. */
export async function retryDigestMail(db: Queryable, leaseToken: string, delaySeconds: number): Promise<void> {
  await db.query(
    `UPDATE digest_mails SET lease_token = NULL, next_attempt_at = service_now() + make_interval(secs => $2)
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, delaySeconds],
  );
}

/** The names of monitors that are not deleted, by id. */
export async function readMonitorNames(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; name: string }>(
    `SELECT id, name FROM monitors WHERE id = ANY ($1::text[]) AND status <> 'deleted'`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Deletes the mails of an account. Requires the account's lock. */
export async function deleteAccountDigestMails(db: Queryable, accountId: string): Promise<void> {
  await db.query('DELETE FROM digest_mails WHERE account_id = $1', [accountId]);
}
