import { parseEmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import { MailError } from '../../../shared/mail/mail-error.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { leaseNotices, retryNotice, settleNotice } from '../../../shared/stores/notices/notices.ts';
import type { LeasedNotice, NoticeFacts, NoticeOutcome } from '../../../shared/stores/notices/notices.ts';
import { openAlarms } from '../../../shared/stores/notices/webhook-alarms.ts';
import { awaitMails } from '../await-mails.ts';
import { mailRetrySeconds } from '../mail-retry-seconds.ts';
import { noticeMail } from './notice-mail.ts';

/** Mails at the same time: a slow mail server delays ten mails by the 15 s that one may take. */
const MAILS_AT_ONCE = 10;
/** Longer than a mail may take, and the statements around it. */
const LEASE_SECONDS = 60;
/** What a mail says is out of date after a day. */
const EXPIRY_SECONDS = 24 * 3_600;

export interface NoticeMailingDeps {
  pool: Pool;
  mailer: Mailer;
  /** Without a trailing slash. */
  dashboardUrl: string;
  metrics: Metrics;
  logger: Logger;
}

/**
 * Mails notices that wait, ten at the same time. Any number of processes may run it: each notice is leased. Steps:
 * 1. Lease. A crash afterwards makes the notice wait for the end of its lease.
 * 2. Mail. After a crash, or when the mail server accepted the mail without saying so, it is mailed again.
 * 3. Settle it.
 *
 * @returns how many notices were leased
 */
export async function mailNotices(deps: NoticeMailingDeps, signal: AbortSignal): Promise<number> {
  const notices = await leaseNotices(deps.pool, {
    limit: MAILS_AT_ONCE,
    leaseSeconds: LEASE_SECONDS,
    expirySeconds: EXPIRY_SECONDS,
  });
  await awaitMails(
    notices.map((notice) => mailNotice(deps, notice)),
    { leaseSeconds: LEASE_SECONDS, signal },
  );
  return notices.length;
}

async function mailNotice(deps: NoticeMailingDeps, notice: LeasedNotice): Promise<void> {
  const { mailer, dashboardUrl, metrics } = deps;
  const { facts, foundAt } = notice;
  if (notice.isExpired) return settle(deps, notice, 'expired');
  // The demo account has no address that mail can be sent to.
  const to = notice.email === undefined ? undefined : parseEmailAddress(notice.email)?.address;
  if (to === undefined || notice.isSwitchedOff) return settle(deps, notice, 'unwanted');
  try {
    await mailer.send(noticeMail(facts, { to, foundAt, dashboardUrl }));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    metrics.notices.inc({ kind: facts.kind, outcome: 'failed' });
    await retryNotice(deps.pool, notice.leaseToken, mailRetrySeconds(notice.attempts));
    const { failure, smtpStatus } = error;
    deps.logger.warn({ account_id: notice.accountId, notice: facts.kind, failure, smtpStatus }, 'a notice waits');
    return;
  }
  await settle(deps, notice, 'sent');
}

async function settle(deps: NoticeMailingDeps, notice: LeasedNotice, outcome: NoticeOutcome): Promise<void> {
  const { facts, accountId } = notice;
  await inTransaction(deps.pool, async (client) => {
    // The owner is told later that these webhooks work again, and only when this was sent.
    if (outcome === 'sent') await openAlarms(client, accountId, alarmedMonitors(facts));
    await settleNotice(client, notice.leaseToken, outcome);
  });
  deps.metrics.notices.inc({ kind: facts.kind, outcome });
  deps.logger.info({ account_id: accountId, notice: facts.kind, outcome }, 'a notice is settled');
}

function alarmedMonitors(facts: NoticeFacts): string[] {
  return facts.kind === 'webhook_failing' ? facts.webhooks.map(({ id }) => id).sort() : [];
}
