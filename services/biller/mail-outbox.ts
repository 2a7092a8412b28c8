import { parseEmailAddress } from '../../shared/accounts/rules/mailbox.ts';
import { MailError } from '../../shared/mail/mailer.ts';
import type { Mail, Mailer } from '../../shared/mail/mailer.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { renewMailLease, leaseMails, settleMail } from '../../shared/notices/outboxes.ts';
import type { LeasedMail, MailOutcome, Outbox } from '../../shared/notices/outboxes.ts';

/** Mails at the same time: a slow mail server delays ten mails by the 15 s that one may take. */
const MAILS_AT_ONCE = 10;
/** Longer than a mail may take, and the statements around it. */
const LEASE_SECONDS = 60;
/** Well within the 10 s that each part of a process has to stop. */
const STOP_MS = 6_000;

export interface MailingDeps {
  pool: Pool;
  mailer: Mailer;
  /** Without a trailing slash. */
  dashboardUrl: string;
  metrics: Metrics;
  logger: Logger;
}

/** How the mails of an outbox are made. */
export interface Mailing<Content> {
  outbox: Outbox;
  /** Its content is out of date after this long. */
  expirySeconds: number;
  kindOf: (content: Content) => string;
  /** undefined: nobody wants it any more. */
  compose: (mail: LeasedMail<Content>, to: string) => Promise<Mail | undefined>;
  /** Runs in the transaction that settles a mail that was sent. */
  onSent?: (db: Queryable, mail: LeasedMail<Content>) => Promise<void>;
  /** Removes a mail that the recipient's mail server refuses for good. Without: it is retried. */
  onBounce?: (mail: LeasedMail<Content>) => Promise<void>;
}

/**
 * Sends mails that wait, ten at the same time. Any number of processes may run it: each mail is leased. Steps:
 * 1. Lease. A crash afterwards, or a mail server that does not accept it, makes the mail wait for the end of its lease.
 * 2. Mail. After a crash, or when the mail server accepted the mail without saying so, it is mailed again.
 * 3. Settle it.
 *
 * A stop waits for a few seconds only: what is not settled then is mailed again after its lease.
 *
 * @returns how many mails were leased
 */
export async function sendMails<Content>(
  deps: MailingDeps,
  mailing: Mailing<Content>,
  signal: AbortSignal,
): Promise<number> {
  const { outbox, expirySeconds } = mailing;
  const lease = { limit: MAILS_AT_ONCE, leaseSeconds: LEASE_SECONDS, expirySeconds };
  const mails = await leaseMails<Content>(deps.pool, outbox, lease);
  const ended = new AbortController();
  const all = Promise.all(mails.map((mail) => sendMail(deps, mailing, mail))).finally(() => ended.abort());
  const stopped = async () => {
    await delay(LEASE_SECONDS * 1_000, AbortSignal.any([signal, ended.signal]));
    await delay(STOP_MS, ended.signal);
  };
  await Promise.race([all, stopped()]);
  if (ended.signal.aborted) await all;
  return mails.length;
}

async function sendMail<Content>(
  deps: MailingDeps,
  mailing: Mailing<Content>,
  mail: LeasedMail<Content>,
): Promise<void> {
  const { mailer, metrics, logger } = deps;
  if (mail.isExpired) return settle(deps, mailing, mail, 'expired');
  // The demo account has no address that mail can be sent to, and a deleted one has none.
  const to = parseEmailAddress(mail.email ?? '')?.address;
  const composed = to === undefined ? undefined : await mailing.compose(mail, to);
  if (composed === undefined) return settle(deps, mailing, mail, 'unwanted');
  // PostgreSQL may have been slow: another process may have it by now.
  if (!(await renewMailLease(deps.pool, mailing.outbox, mail.leaseToken, LEASE_SECONDS))) return;
  try {
    await mailer.send(composed);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const kind = mailing.kindOf(mail.content);
    const onBounce = error.isBounce ? mailing.onBounce : undefined;
    await onBounce?.(mail);
    metrics.notices.inc({ kind, outcome: onBounce ? 'bounced' : 'failed' });
    const { failure, smtpStatus } = error;
    logger.warn(
      { account_id: mail.accountId, notice: kind, failure, smtpStatus },
      onBounce
        ? 'the mail server refuses an address for good; no more of these mails are sent to it'
        : 'a mail could not be sent; it will be retried when its lease ends',
    );
    return;
  }
  await settle(deps, mailing, mail, 'sent');
}

async function settle<Content>(
  { pool, metrics, logger }: MailingDeps,
  { outbox, kindOf, onSent }: Mailing<Content>,
  mail: LeasedMail<Content>,
  outcome: MailOutcome,
): Promise<void> {
  const isMine = await inTransaction(pool, async (client) => {
    if (outcome === 'sent') await onSent?.(client, mail);
    return settleMail(client, outbox, mail.leaseToken, outcome);
  });
  const kind = kindOf(mail.content);
  if (isMine) metrics.notices.inc({ kind, outcome });
  const what = isMine ? 'a mail is settled' : 'a mail was settled after its lease';
  logger.info({ account_id: mail.accountId, notice: kind, outcome }, what);
}
