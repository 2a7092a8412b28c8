import { creditedFormsOf, creditedMailboxOf } from '../../../shared/domain/accounts/credited-mailbox.ts';
import { SIGN_UP_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { isLargeProvider } from '../../../shared/domain/accounts/mail-providers.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { registrableDomain } from '../../../shared/domain/accounts/registrable-domain.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { credit } from '../../../shared/stores/ledger/ledger.ts';
import { takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { isCreditedMailbox, recordCreditedMailboxes, takeOverDebts } from '../../../shared/stores/accounts/signups.ts';

const DAY = 24 * 3_600;
/** The owner of a domain can create any number of subdomains and mailboxes. */
const CREDITED_PER_DOMAIN_DAILY = 3;

const HAD_CREDITS = {
  credits: 0,
  reason: 'This mailbox had its free credits before, so the account starts with 0 credits.',
} as const;

/** The free credits of a new account, and the reason when there are none. */
export type FreeCredits = { credits: number } | { credits: 0; reason: string };

/**
 * Grants a new account its free credits: once per mailbox ever, and outside large providers to a few accounts per
 * registrable domain and day. An account whose mailbox had an account before owes what that one owed. Call it in the
 * transaction that opens the account, after its insert: the insert makes other sign-ups of the mailbox wait. Those of
 * another spelling, which is another account, wait for the record.
 */
export async function grantFreeCredits(
  db: Queryable,
  account: { accountId: string; mailbox: string },
  mailboxHash: MailboxHash,
): Promise<FreeCredits> {
  const { accountId, mailbox } = account;
  // The mailbox is checked first: one that gets no credits anyway must not use up its domain's share.
  const hashes = creditedFormsOf(mailbox).flatMap((form) => mailboxHash.all(form));
  if (await isCreditedMailbox(db, hashes)) {
    await takeOverDebts(db, accountId, hashes);
    return HAD_CREDITS;
  }
  const credited = creditedMailboxOf(mailbox);
  const domain = credited.slice(credited.lastIndexOf('@') + 1);
  const owned = registrableDomain(domain);
  if (!isLargeProvider(domain) && (await isDomainUsedUp(db, owned))) {
    const reason = `${CREDITED_PER_DOMAIN_DAILY} new accounts of ${owned} got free credits within 24 hours, so this one starts with 0 credits.`;
    return { credits: 0, reason };
  }
  // Also as the mailbox is, for processes that know no other form.
  if (!(await recordCreditedMailboxes(db, mailboxHash(credited), mailboxHash(mailbox)))) return HAD_CREDITS;
  await credit(db, { accountId, kind: 'grant', credits: SIGN_UP_CREDITS, reference: 'opening' });
  return { credits: SIGN_UP_CREDITS };
}

async function isDomainUsedUp(db: Queryable, domain: string): Promise<boolean> {
  const name = `signup:credits:${domain}`;
  return (await takeUse(db, { name, maxUses: CREDITED_PER_DOMAIN_DAILY, seconds: DAY })) > 0;
}
