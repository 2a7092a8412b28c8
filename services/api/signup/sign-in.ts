import { newAccountId } from '../../../shared/rules/identifiers.ts';
import type { MailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount, insertAccount, recordSignInNetwork } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { takeLink } from '../../../shared/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/accounts/signups.ts';
import type { CodePurpose } from './code-mail.ts';
import { createCodeChecker, checkCode, notifyOfWrongCodes } from './check-code.ts';
import type { CheckedCode } from './check-code.ts';
import { createRequestCode } from './request-code.ts';
import { hashMailedToken } from '../../../shared/accounts/rules/credentials.ts';
import { networksOf, UNKNOWN_NETWORK } from './signup-limits.ts';
import type { SignupDeps } from './signup-routes.ts';
import { grantFreeCredits } from './verify-code.ts';

/** Who signed in: an account, by the address that was proved to be its own. */
export interface SignedInAccount {
  accountId: string;
  /** As the account spells it. Once the account has another address, what this one began is refused. */
  email: string;
}

export type SignInResult =
  | Exclude<CheckedCode, { outcome: 'right' }>
  | ({ outcome: 'signed in'; isNew: boolean } & SignedInAccount)
  | { outcome: 'frozen' | 'other spelling' | 'no account' };

/** The outcome of a link, and the sign-in that requested it. */
type ConfirmedLink = SignInOutcome & { interaction: string | null };

type SignInOutcome = Exclude<SignInResult, CheckedCode>;

export type SignIn = ReturnType<typeof createSignIn>;

/** The steps of sign-up: the same code, limits and mail, whether or not the mailbox has an account. */
export function createSignIn(deps: SignupDeps, purpose: CodePurpose, linkPage: string) {
  const requestCode = createRequestCode(deps, purpose, linkPage);
  const checker = createCodeChecker(deps, purpose.name);
  const { mailboxHash } = checker;
  const mayOpen = deps.signup.enabled;
  return {
    /** Mails a code and returns its token. @param interaction the page that a mailed link returns to */
    sendCode: (email: string, clientAddress: string | undefined, interaction?: string): Promise<string> =>
      requestCode({ email }, clientAddress, interaction),
    async verify(token: string, code: string, clientAddress: string | undefined): Promise<SignInResult> {
      const result = await inTransaction(deps.pool, async (client): Promise<SignInResult> => {
        const checked = await checkCode(client, checker, hashMailedToken(token), code);
        return checked.outcome === 'right'
          ? findOrOpenAccount(client, checked.signup, { mayOpen, mailboxHash })
          : checked;
      });
      await notifyOfWrongCodes(deps, result);
      await recordNetwork(deps, result, clientAddress);
      return result;
    },
    async confirmLink(linkHash: Buffer, clientAddress: string | undefined): Promise<ConfirmedLink | undefined> {
      const link = await inTransaction(deps.pool, async (client): Promise<ConfirmedLink | undefined> => {
        const confirmed = await takeLink(client, linkHash, purpose.name);
        if (confirmed === undefined) return undefined;
        const entry = await findOrOpenAccount(client, confirmed, { mayOpen, mailboxHash });
        return { ...entry, interaction: confirmed.interaction };
      });
      if (link !== undefined) await recordNetwork(deps, link, clientAddress);
      return link;
    },
  };
}

/** After the commit: it locks the account, as its deletion does before it locks the mailbox's codes. */
async function recordNetwork(
  { pool, logger }: SignupDeps,
  result: SignInResult,
  clientAddress: string | undefined,
): Promise<void> {
  if (result.outcome !== 'signed in') return;
  const { network } = networksOf(clientAddress)[0];
  if (network === UNKNOWN_NETWORK) return;
  // The code is used up, so what fails here must not fail the sign-in.
  await recordSignInNetwork(pool, result.accountId, network).catch((error: unknown) => {
    logger.warn({ err: error }, 'the network of a sign-in could not be remembered');
  });
}

/** Returns the mailbox's account, or opens one exactly as agent sign-up does, but without a key. */
async function findOrOpenAccount(
  db: Queryable,
  { email, mailbox }: ConfirmedMailbox,
  { mayOpen, mailboxHash }: { mayOpen: boolean; mailboxHash: MailboxHash },
): Promise<SignInOutcome> {
  if (mayOpen) {
    const accountId = newAccountId();
    if (await insertAccount(db, { id: accountId, email, mailbox })) {
      await grantFreeCredits(db, { accountId, mailbox }, mailboxHash);
      return { outcome: 'signed in', accountId, email, isNew: true };
    }
  }
  const account = await findAccount(db, mailbox);
  return account === undefined ? { outcome: 'no account' } : resultFor(account, email);
}

/** Only the address that the account was opened with gives access, as in `verify-code.ts`, which says why. */
function resultFor(account: StoredAccount, email: string): SignInOutcome {
  if (account.status !== 'active') return { outcome: 'frozen' };
  if (account.email.toLowerCase() !== email.toLowerCase()) return { outcome: 'other spelling' };
  return { outcome: 'signed in', accountId: account.id, email: account.email, isNew: false };
}

/** Says why a person is not signed in and what to do, for the page. */
export function signInProblem(result: Exclude<SignInResult, { outcome: 'signed in' }>): string {
  switch (result.outcome) {
    case 'wrong':
      return result.triesLeft === 0
        ? 'The code was wrong three times. Request a new one.'
        : `The code is wrong. Tries left: ${result.triesLeft}.`;
    case 'expired':
    case 'exhausted':
    case 'unknown':
      return 'The code is no longer valid. Request a new one.';
    case 'tries used up':
      return 'Too many wrong codes were entered for this address. Request a new one: the mail will contain a link instead.';
    case 'frozen':
      return 'This account is frozen. Contact the operator of the service.';
    case 'other spelling':
      return 'The account of this mailbox uses a different spelling of the address. Sign in with that one.';
    case 'no account':
      return 'No account has this address, and new accounts cannot be opened at the moment.';
  }
}
