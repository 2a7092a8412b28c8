import { newAccountId } from '../../../shared/domain/identifiers.ts';
import { createMailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount, insertAccount } from '../../../shared/stores/accounts.ts';
import type { StoredAccount } from '../../../shared/stores/accounts.ts';
import type { LockedSignup } from '../../../shared/stores/signups.ts';
import { SIGN_IN } from '../signup/code-mail.ts';
import { giveFreeCredits } from '../signup/free-credits.ts';
import { judgeCode } from '../signup/judge-code.ts';
import type { CodeVerdict } from '../signup/judge-code.ts';
import { createRequestCode } from '../signup/request-code.ts';
import { createCodeHashes, hashSignupToken } from '../signup/signup-secrets.ts';
import type { OAuthService } from './oauth-service.ts';

/** What became of a code: whose account it opened, or why it opened none. */
export type SignInVerdict =
  | Exclude<CodeVerdict, { outcome: 'right' }>
  | { outcome: 'signed in'; accountId: string }
  | { outcome: 'frozen' | 'other spelling' | 'no account' };

export interface SignIn {
  /** Mails a code; answers the token that stands for it. @throws ApiError as sign-up does */
  sendCode(email: string, clientAddress: string | undefined): Promise<string>;
  verify(token: string, code: string): Promise<SignInVerdict>;
}

/** Signing in is signing up once more: the same code, limits and mail, whether or not the mailbox has an account. */
export function createSignIn(service: OAuthService): SignIn {
  const requestCode = createRequestCode(service, SIGN_IN);
  const codes = createCodeHashes(service.secretKey);
  const mailboxHash = createMailboxHash(service.secretKey);
  const mayOpen = service.signup.enabled;
  return {
    sendCode: async (email, clientAddress) => (await requestCode({ email }, clientAddress)).signup_token,
    verify: (token, code) =>
      inTransaction(service.pool, async (client) => {
        const tokenHash = hashSignupToken(token);
        const verdict = await judgeCode(client, codes, tokenHash, code);
        if (verdict.outcome !== 'right') return verdict;
        return accountOf(client, verdict.signup, { mayOpen, mailboxHash });
      }),
  };
}

/** The mailbox's account, or a new one exactly as agents get it, but without a key. */
async function accountOf(
  db: Queryable,
  { email, mailbox }: LockedSignup,
  { mayOpen, mailboxHash }: { mayOpen: boolean; mailboxHash: MailboxHash },
): Promise<SignInVerdict> {
  if (mayOpen) {
    const accountId = newAccountId();
    if (await insertAccount(db, { id: accountId, email, mailbox })) {
      await giveFreeCredits(db, { accountId, mailbox }, mailboxHash);
      return { outcome: 'signed in', accountId };
    }
  }
  const account = await findAccount(db, mailbox);
  return account === undefined ? { outcome: 'no account' } : entryInto(account, email);
}

/**
 * Spellings that are one mailbox for free credits need not be one for everybody: `ada+x@` may be somebody else where plus means nothing. So only
 * the address that the account was opened with lets anybody in.
 */
function entryInto(account: StoredAccount, email: string): SignInVerdict {
  if (account.status !== 'active') return { outcome: 'frozen' };
  if (account.email.toLowerCase() !== email.toLowerCase()) return { outcome: 'other spelling' };
  return { outcome: 'signed in', accountId: account.id };
}
