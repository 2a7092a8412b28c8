import { verifyBody } from '../../../schemas/api/signup.ts';
import type { AccountCreated } from '../../../schemas/api/signup.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import { ApiError } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { accountCreated } from './account-created.ts';
import { grantFreeCredits } from './free-credits.ts';
import type { FreeCredits } from './free-credits.ts';
import { codeError, SIGNUP_ROUTES } from './code-error.ts';
import { createCodeJudge, judgeCode } from './judge-code.ts';
import type { CodeJudge, CodeVerdict } from './judge-code.ts';
import { hashMailedToken, isSignupToken } from '../../../shared/domain/accounts/mailed-tokens.ts';
import type { SignupDeps } from './signup-deps.ts';
import { notifyOfWrongCodes } from './notify-of-wrong-codes.ts';

/** Opens the account for a token and code. */
export type VerifyCode = (body: unknown) => Promise<AccountCreated>;

type Verdict = Exclude<CodeVerdict, { outcome: 'right' }> | OpenedForMailbox;

/** POST /api/agent/verify: one transaction, so a crash leaves the account with its key and credits, or nothing. */
export function createVerifyCode(deps: SignupDeps): VerifyCode {
  const judge = createCodeJudge(deps, 'signup');
  return async (body) => {
    const { signup_token, code } = parseRequest(verifyBody, body === undefined ? {} : body, 'body');
    if (!isSignupToken(signup_token)) throw codeError({ outcome: 'unknown' }, SIGNUP_ROUTES);
    const tokenHash = hashMailedToken(signup_token);
    const verdict = await inTransaction(deps.pool, (client) => judgeAndOpen(client, judge, tokenHash, code));
    await notifyOfWrongCodes(deps, verdict);
    if (verdict.outcome === 'account exists') throw accountExists(deps.dashboardUrl);
    if (verdict.outcome !== 'created') throw codeError(verdict, SIGNUP_ROUTES);
    return accountCreated(verdict.apiKey, verdict.given, deps);
  };
}

async function judgeAndOpen(db: Queryable, judge: CodeJudge, tokenHash: Buffer, code: string): Promise<Verdict> {
  const verdict = await judgeCode(db, judge, tokenHash, code);
  return verdict.outcome === 'right' ? openForMailbox(db, verdict.signup, judge.mailboxHash) : verdict;
}

/** The outcome for a mailbox that the requester has proved to read. */
export type OpenedForMailbox =
  { outcome: 'account exists' } | { outcome: 'created'; apiKey: string; given: FreeCredits };

/** Waits for a concurrent sign-up of the same mailbox, which then owns the account. Call it in a transaction. */
export async function openForMailbox(
  db: Queryable,
  { email, mailbox }: ConfirmedMailbox,
  mailboxHash: MailboxHash,
): Promise<OpenedForMailbox> {
  const opened = await openAccount(db, { email, credits: 0, pack: 0, keyName: 'agent sign-up' });
  if (!opened) return { outcome: 'account exists' };
  const given = await grantFreeCredits(db, { accountId: opened.accountId, mailbox }, mailboxHash);
  return { outcome: 'created', apiKey: opened.apiKey, given };
}

function accountExists(dashboardUrl: string): ApiError {
  return new ApiError(
    'account_exists',
    `This mailbox has an account already. POST /api/agent/recover with the address it was opened with gives a key to it, and so does its owner at ${dashboardUrl}/dashboard/keys.`,
  );
}
