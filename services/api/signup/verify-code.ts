import { verifyBody } from '../../../schemas/signup.ts';
import type { AccountCreated } from '../../../schemas/signup.ts';
import { createMailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { openAccount } from '../../../shared/stores/open-account.ts';
import type { LockedSignup } from '../../../shared/stores/signups.ts';
import { ApiError } from '../api-error.ts';
import { parseRequest } from '../invalid-request.ts';
import { accountCreated } from './account-created.ts';
import { giveFreeCredits } from './free-credits.ts';
import type { FreeCredits } from './free-credits.ts';
import { judgeCode } from './judge-code.ts';
import type { CodeVerdict } from './judge-code.ts';
import { createCodeHashes, hashSignupToken } from './signup-secrets.ts';
import type { CodeHashes } from './signup-secrets.ts';
import type { SignupService } from './signup-service.ts';

const START_OVER = 'Start over with POST /api/agent/signup.';

/** Opens the account that a body's token and code stand for. */
export type VerifyCode = (body: unknown) => Promise<AccountCreated>;

type Verdict =
  | Exclude<CodeVerdict, { outcome: 'right' }>
  | { outcome: 'account exists' }
  | { outcome: 'created'; apiKey: string; given: FreeCredits };

interface Judge {
  codes: CodeHashes;
  mailboxHash: MailboxHash;
}

/** POST /api/agent/verify: one transaction, so that a crash leaves the account with its key and its credits, or nothing. */
export function createVerifyCode(service: SignupService): VerifyCode {
  const judge = { codes: createCodeHashes(service.secretKey), mailboxHash: createMailboxHash(service.secretKey) };
  return async (body) => {
    const { signup_token, code } = parseRequest(verifyBody, body === undefined ? {} : body, 'body');
    const tokenHash = hashSignupToken(signup_token);
    const verdict = await inTransaction(service.pool, (client) => judgeAndOpen(client, judge, tokenHash, code));
    if (verdict.outcome !== 'created') throw refusalOf(verdict);
    return accountCreated(verdict.apiKey, verdict.given, service.baseUrl);
  };
}

async function judgeAndOpen(db: Queryable, judge: Judge, tokenHash: Buffer, code: string): Promise<Verdict> {
  const verdict = await judgeCode(db, judge.codes, tokenHash, code);
  return verdict.outcome === 'right' ? open(db, verdict.signup, judge.mailboxHash) : verdict;
}

/** Waits for a concurrent sign-up of the same mailbox: the account is the first one's. */
async function open(db: Queryable, { email, mailbox }: LockedSignup, mailboxHash: MailboxHash): Promise<Verdict> {
  const opened = await openAccount(db, { email, credits: 0, pack: 0, keyName: 'agent sign-up' });
  if (!opened) return { outcome: 'account exists' };
  const given = await giveFreeCredits(db, { accountId: opened.accountId, mailbox }, mailboxHash);
  return { outcome: 'created', apiKey: opened.apiKey, given };
}

function refusalOf(verdict: Exclude<Verdict, { outcome: 'created' }>): ApiError {
  switch (verdict.outcome) {
    case 'unknown':
      return new ApiError('invalid_signup_token', `signup_token: is wrong or too old. ${START_OVER}`);
    case 'expired':
      return new ApiError('code_expired', `code: is older than 10 minutes. ${START_OVER}`);
    case 'exhausted':
      return new ApiError('too_many_attempts', `code: was wrong three times. ${START_OVER}`);
    case 'wrong':
      return new ApiError('invalid_code', `code: is wrong. ${triesLeftText(verdict.triesLeft)}`);
    case 'account exists':
      return new ApiError('account_exists', 'This mailbox has an account already.');
  }
}

function triesLeftText(triesLeft: number): string {
  if (triesLeft === 0) return `No more tries. ${START_OVER}`;
  return triesLeft === 1 ? '1 more try.' : `${triesLeft} more tries.`;
}
