import { verifyBody } from '../../../schemas/signup.ts';
import type { AccountCreated } from '../../../schemas/signup.ts';
import { createMailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/mailbox-hash.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { openAccount } from '../../../shared/stores/open-account.ts';
import { countWrongCode, lockSignup } from '../../../shared/stores/signups.ts';
import type { LockedSignup } from '../../../shared/stores/signups.ts';
import { ApiError } from '../api-error.ts';
import { parseRequest } from '../invalid-request.ts';
import { accountCreated } from './account-created.ts';
import { giveFreeCredits } from './free-credits.ts';
import type { FreeCredits } from './free-credits.ts';
import { createCodeHashes, hashSignupToken } from './signup-secrets.ts';
import type { CodeHashes } from './signup-secrets.ts';
import type { SignupService } from './signup-service.ts';

const WRONG_CODES_ALLOWED = 3;
const START_OVER = 'Start over with POST /api/agent/signup.';

/** Opens the account that a body's token and code stand for. */
export type VerifyCode = (body: unknown) => Promise<AccountCreated>;

/**
 * What became of a code. Refusals are data, not exceptions: a wrong code is counted by the transaction that found it wrong, so it must commit.
 */
type Verdict =
  | { outcome: 'unknown' | 'expired' | 'exhausted' | 'account exists' }
  | { outcome: 'wrong'; triesLeft: number }
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
    const verdict = await inTransaction(service.pool, (client) => judgeCode(client, judge, tokenHash, code));
    if (verdict.outcome !== 'created') throw refusalOf(verdict);
    return accountCreated(verdict.apiKey, verdict.given, service.baseUrl);
  };
}

/** Locks the sign-up first: of codes that come together each is judged knowing the ones before. */
async function judgeCode(db: Queryable, judge: Judge, tokenHash: Buffer, code: string): Promise<Verdict> {
  const signup = await lockSignup(db, tokenHash);
  if (!signup) return { outcome: 'unknown' };
  if (signup.wrong_codes >= WRONG_CODES_ALLOWED) return { outcome: 'exhausted' };
  if (signup.expired) return { outcome: 'expired' };
  if (!judge.codes.isCode(signup.code_hash, tokenHash, code)) {
    return { outcome: 'wrong', triesLeft: WRONG_CODES_ALLOWED - (await countWrongCode(db, tokenHash)) };
  }
  return open(db, signup, judge.mailboxHash);
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
