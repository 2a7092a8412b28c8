import { parseEmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import { MailError } from '../../../shared/mail/mail-error.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import {
  keepDigestMail,
  leaseDigestMails,
  readMonitorNames,
  retryDigestMail,
  settleDigestMail,
} from '../../../shared/stores/digests/digest-mails.ts';
import type { DigestMailOutcome, LeasedDigestMail } from '../../../shared/stores/digests/digest-mails.ts';
import { readDigestMatches } from '../../../shared/stores/digests/digest-matches.ts';
import { awaitMails } from '../await-mails.ts';
import { mailRetrySeconds } from '../mail-retry-seconds.ts';
import { digestMail } from './digest-mail.ts';
import type { DigestOfMonitor } from './digest-mail.ts';
import { shareOut } from './share-out.ts';

const MAILS_AT_ONCE = 10;
/** Longer than a mail may take, and the statements around it. */
const LEASE_SECONDS = 60;
/** The lease is prolonged where the statements before the mail took longer than this: PostgreSQL may be slow. */
const KEEP_AFTER_MS = 5_000;
/** While a mail waits, further matches of the account wait for the next one. */
const EXPIRY_SECONDS = 3 * 24 * 3_600;
/** Matches that a mail lists, of all its monitors together. */
const LISTED_MATCHES = 100;

export interface DigestMailingDeps {
  pool: Pool;
  mailer: Mailer;
  /** Without a trailing slash. */
  dashboardUrl: string;
  metrics: Metrics;
  logger: Logger;
  /** Milliseconds; default: a monotonic clock. */
  monotonic?: () => number;
}

/**
 * Mails digests that wait, ten at the same time. Any number of processes may run it: each mail is leased. Steps:
 * 1. Lease. A crash afterwards makes the mail wait for the end of its lease.
 * 2. Read the matches as they are now, and mail them. After a crash, or when the mail server accepted the mail without
 *    saying so, it is mailed again.
 * 3. Settle it.
 *
 * Before: `makeDigests` stored the mail.
 *
 * @returns how many mails were leased
 */
export async function mailDigests(deps: DigestMailingDeps, signal: AbortSignal): Promise<number> {
  const mails = await leaseDigestMails(deps.pool, {
    limit: MAILS_AT_ONCE,
    leaseSeconds: LEASE_SECONDS,
    expirySeconds: EXPIRY_SECONDS,
  });
  await awaitMails(
    mails.map((mail) => mailDigest(deps, mail)),
    { leaseSeconds: LEASE_SECONDS, signal },
  );
  return mails.length;
}

async function mailDigest(deps: DigestMailingDeps, mail: LeasedDigestMail): Promise<void> {
  const { mailer, dashboardUrl, metrics } = deps;
  if (mail.isExpired) return settle(deps, mail, 'expired');
  // The demo account has no address that mail can be sent to.
  const to = mail.email === undefined ? undefined : parseEmailAddress(mail.email)?.address;
  if (to === undefined) return settle(deps, mail, 'unwanted');
  const digests = await readDigests(deps, mail);
  if (digests === 'lost') return;
  if (digests.length === 0) return settle(deps, mail, 'unwanted');
  try {
    await mailer.send(digestMail(digests, { to, madeAt: mail.createdAt, dashboardUrl }));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    metrics.notices.inc({ kind: 'digest', outcome: 'failed' });
    await retryDigestMail(deps.pool, mail.leaseToken, mailRetrySeconds(mail.attempts));
    const { failure, smtpStatus } = error;
    deps.logger.warn({ account_id: mail.accountId, failure, smtpStatus }, 'a digest waits');
    return;
  }
  await settle(deps, mail, 'sent');
}

/** Without those of monitors that are deleted meanwhile. `lost`: another process mails them. */
async function readDigests(
  { pool, monotonic = () => performance.now() }: DigestMailingDeps,
  { sections, leaseToken }: LeasedDigestMail,
): Promise<DigestOfMonitor[] | 'lost'> {
  let keptAt = monotonic();
  const names = await readMonitorNames(
    pool,
    sections.map(({ monitorId }) => monitorId),
  );
  const kept = sections.filter(({ monitorId }) => names.has(monitorId));
  const shares = shareOut(
    LISTED_MATCHES,
    kept.map(({ count }) => count),
  );
  const digests: DigestOfMonitor[] = [];
  for (const [index, section] of kept.entries()) {
    const matches = await readDigestMatches(pool, section, shares[index]!);
    digests.push({ ...section, name: names.get(section.monitorId)!, matches });
    const now = monotonic();
    if (now - keptAt < KEEP_AFTER_MS) continue;
    keptAt = now;
    if (!(await keepDigestMail(pool, leaseToken, LEASE_SECONDS))) return 'lost';
  }
  return digests;
}

async function settle(deps: DigestMailingDeps, mail: LeasedDigestMail, outcome: DigestMailOutcome): Promise<void> {
  if (!(await settleDigestMail(deps.pool, mail.leaseToken, outcome))) {
    deps.logger.warn({ account_id: mail.accountId, outcome }, 'a digest was settled after its lease');
    return;
  }
  deps.metrics.notices.inc({ kind: 'digest', outcome });
  deps.logger.info({ account_id: mail.accountId, outcome }, 'a digest is settled');
}
