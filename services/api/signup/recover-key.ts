import { recoverVerifyBody } from '../../../schemas/api/signup.ts';
import type { KeyRecovered } from '../../../schemas/api/signup.ts';
import { apiKeyId } from '../../../shared/domain/accounts/api-key.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount, lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import { deleteSignup } from '../../../shared/stores/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import { accountFrozen } from '../admission/authentication.ts';
import { ApiError } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { codeError, RECOVERY_ROUTES } from './code-error.ts';
import { keyRecoveredMail } from '../notices/key-recovered-mail.ts';
import { createCodeJudge, judgeCode } from './judge-code.ts';
import type { CodeVerdict } from './judge-code.ts';
import { notifyOfWrongCodes } from './notify-of-wrong-codes.ts';
import { sendNotice } from '../notices/send-notice.ts';
import type { SignupDeps } from './signup-deps.ts';
import { hashMailedToken, isSignupToken } from '../../../shared/domain/accounts/mailed-tokens.ts';

/** Gives a new key to the account of a token and code. */
export type RecoverKey = (body: unknown) => Promise<KeyRecovered>;

const KEY_NAME = 'recovered';

/**
 * POST /api/agent/recover/verify. 1. The code is judged and used up; 2. the key is created; 3. the owner is notified. A
 * crash after step 1 leaves a used code: the client asks for another. They are two transactions, because the deletion
 * of an account locks the account before its codes.
 */
export function createRecoverKey(deps: SignupDeps): RecoverKey {
  const judge = createCodeJudge(deps, 'recovery');
  return async (body) => {
    const { recovery_token, code } = parseRequest(recoverVerifyBody, body === undefined ? {} : body, 'body');
    if (!isSignupToken(recovery_token)) throw codeError({ outcome: 'unknown' }, RECOVERY_ROUTES);
    const tokenHash = hashMailedToken(recovery_token);
    const verdict = await inTransaction(deps.pool, async (client): Promise<CodeVerdict> => {
      const judged = await judgeCode(client, judge, tokenHash, code);
      if (judged.outcome === 'right') await deleteSignup(client, tokenHash);
      return judged;
    });
    await notifyOfWrongCodes(deps, verdict);
    if (verdict.outcome !== 'right') throw codeError(verdict, RECOVERY_ROUTES);
    return { api_key: await issueRecoveredKey(deps, verdict.signup) };
  };
}

/**
 * Creates a key for the account of a mailbox that the requester has proved to read, and notifies its owner. The limit
 * of keys does not apply: whoever lost 20 keys must get another.
 *
 * @throws ApiError not_found when no account was opened with exactly this address, account_frozen
 */
export async function issueRecoveredKey(deps: SignupDeps, confirmed: ConfirmedMailbox): Promise<string> {
  const key = await inTransaction(deps.pool, (client) => issueFor(client, confirmed));
  const recovered = { keyId: apiKeyId(key)!, at: new Date() };
  await sendNotice(deps, keyRecoveredMail(confirmed.email, recovered, deps.dashboardUrl), 'a key was recovered');
  return key;
}

/**
 * Spellings that count as one mailbox for free credits may be different mailboxes elsewhere: `ada+x@` may belong to
 * another person where plus has no special meaning. So only the address that the account was opened with gives a key.
 */
async function issueFor(db: Queryable, { email, mailbox }: ConfirmedMailbox): Promise<string> {
  const found = await findAccount(db, mailbox);
  const account = found && (await lockAccount(db, found.id));
  if (account?.email !== email) {
    throw new ApiError(
      'not_found',
      'No account was opened with exactly this address. Capital letters, dots and plus tags count.',
    );
  }
  if (account.status === 'frozen') throw accountFrozen();
  return issueApiKey(db, account.id, KEY_NAME);
}
