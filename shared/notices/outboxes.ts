import type { Queryable } from '../postgres/pool.ts';

/**
 * Tables of mails: the content of a mail `l`, what is set once the mail is settled ($2: its outcome), and the column of
 * its time. A mail about matches is made again and again: what was not sent is in the next one.
 */
const OUTBOXES = {
  notices: { content: 'l.facts', settled: "facts = '{}'", madeAt: 'found_at' },
  digest_mails: { content: 'l.sections', settled: "sections = '[]'", madeAt: 'created_at' },
  match_mails: {
    content: `jsonb_build_object('monitorId', l.monitor_id, 'after', l.after_seq, 'until', l.until_seq,
      'count', l.matches)`,
    settled: `after_seq = CASE $2 WHEN 'sent' THEN until_seq ELSE after_seq END,
      next_attempt_at = service_now() + interval '5 minutes'`,
    madeAt: 'made_at',
  },
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
      SELECT l.account_id AS "accountId", l.lease_token AS "leaseToken", ${content} AS content, l.${madeAt} AS "madeAt",
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
  const { settled } = OUTBOXES[outbox];
  const { rowCount } = await db.query(
    `UPDATE ${outbox} SET outcome = $2, ${settled}, lease_token = NULL
     WHERE lease_token = $1 AND outcome IS NULL`,
    [leaseToken, outcome],
  );
  return rowCount === 1;
}
