import type { Queryable } from '../postgres/pool.ts';

/** Tables of mails: the column of a mail's content, its value once the mail is settled, and the column of its time. */
const OUTBOXES = {
  notices: { content: 'facts', nothing: '{}', madeAt: 'found_at' },
  digest_mails: { content: 'sections', nothing: '[]', madeAt: 'created_at' },
};
export type Outbox = keyof typeof OUTBOXES;

export interface LeasedMail<Content> {
  accountId: string;
  leaseToken: string;
  content: Content;
  madeAt: Date;
  /** Null when the account is deleted. */
  email: string | null;
  isExpired: boolean;
}

export type MailOutcome = 'sent' | 'expired' | 'unwanted';

/**
 * Leases mails that wait, the longest waiting first. One that is not settled, because it could not be sent or its
 * process died, is leased again after `leaseSeconds`, then after twice as long each time, at most an hour.
 *
 * @param expirySeconds a mail that was made longer ago is expired
 */
export async function leaseMails<Content>(
  db: Queryable,
  outbox: Outbox,
  { limit, leaseSeconds, expirySeconds }: { limit: number; leaseSeconds: number; expirySeconds: number },
): Promise<LeasedMail<Content>[]> {
  const { content, madeAt } = OUTBOXES[outbox];
  const { rows } = await db.query<LeasedMail<Content>>({
    name: `lease-${outbox}`,
    text: `
      WITH waiting AS MATERIALIZED (
        SELECT ctid FROM ${outbox}
        WHERE outcome IS NULL AND next_attempt_at <= (SELECT service_now())
        ORDER BY next_attempt_at
        LIMIT $1
        FOR UPDATE SKIP LOCKED
      ), leased AS (
        UPDATE ${outbox} n
        SET lease_token = gen_random_uuid(), attempts = n.attempts + 1,
          next_attempt_at = service_now() + make_interval(secs => least(3600, $2::float8 * 2 ^ least(n.attempts, 6)))
        FROM waiting w
        WHERE n.ctid = w.ctid
        RETURNING n.*
      )
      SELECT l.account_id AS "accountId", l.lease_token AS "leaseToken", l.${content} AS content, l.${madeAt} AS "madeAt",
        a.email, l.${madeAt} <= (SELECT service_now()) - make_interval(secs => $3) AS "isExpired"
      FROM leased l
      LEFT JOIN accounts a ON a.id = l.account_id AND a.status <> 'deleted'`,
    values: [limit, leaseSeconds, expirySeconds],
  });
  return rows;
}

/** Prolongs the lease of a mail. Returns false when it was lost: another process has the mail. */
export async function renewMailLease(
  db: Queryable,
  outbox: Outbox,
  leaseToken: string,
  seconds: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE ${outbox} SET next_attempt_at = greatest(next_attempt_at, service_now() + make_interval(secs => $2))
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, seconds],
  );
  return rowCount === 1;
}

/** Ends a mail, and deletes its content. Returns false when its lease was lost. */
export async function settleMail(
  db: Queryable,
  outbox: Outbox,
  leaseToken: string,
  outcome: MailOutcome,
): Promise<boolean> {
  const { content, nothing } = OUTBOXES[outbox];
  const { rowCount } = await db.query(
    `UPDATE ${outbox} SET outcome = $2, ${content} = '${nothing}', lease_token = NULL
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, outcome],
  );
  return rowCount === 1;
}
