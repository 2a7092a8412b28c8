import { SIGN_UP_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { isLargeProvider } from '../../../shared/domain/accounts/mail-providers.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { registrableDomain } from '../../../shared/domain/accounts/registrable-domain.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { credit } from '../../../shared/stores/accounts/ledger.ts';
import { takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { isCreditedMailbox, recordCreditedMailbox } from '../../../shared/stores/accounts/signups.ts';

const DAY = 24 * 3_600;
/** Whoever owns a domain has as many subdomains and mailboxes as they like. */
const CREDITED_PER_DOMAIN_AND_DAY = 3;

/** What a new account got, and why it got nothing where it did. */
export type FreeCredits = { credits: number } | { credits: 0; reason: string };

/**
 * Gives a new account its free credits: once per mailbox for ever, and outside large providers to a few accounts per
 * registrable domain and day. To be called in the transaction that opens the account, after its insert, which keeps
 * other sign-ups of the mailbox waiting.
 */
export async function giveFreeCredits(
  db: Queryable,
  account: { accountId: string; mailbox: string },
  mailboxHash: MailboxHash,
): Promise<FreeCredits> {
  const { accountId, mailbox } = account;
  const hash = mailboxHash(mailbox);
  // Asked first: a mailbox that gets nothing anyway takes nothing from its domain.
  if (await isCreditedMailbox(db, hash)) {
    return { credits: 0, reason: 'This mailbox had its free credits before, so the account starts with 0 credits.' };
  }
  const domain = mailbox.slice(mailbox.lastIndexOf('@') + 1);
  const owned = registrableDomain(domain);
  if (!isLargeProvider(domain) && (await isDomainUsedUp(db, owned))) {
    const reason = `${CREDITED_PER_DOMAIN_AND_DAY} new accounts of ${owned} got free credits within 24 hours, so this one starts with 0 credits.`;
    return { credits: 0, reason };
  }
  await recordCreditedMailbox(db, hash);
  await credit(db, { accountId, kind: 'grant', credits: SIGN_UP_CREDITS, reference: 'opening' });
  return { credits: SIGN_UP_CREDITS };
}

async function isDomainUsedUp(db: Queryable, domain: string): Promise<boolean> {
  const name = `signup:credits:${domain}`;
  return (await takeUse(db, { name, most: CREDITED_PER_DOMAIN_AND_DAY, seconds: DAY })) > 0;
}
