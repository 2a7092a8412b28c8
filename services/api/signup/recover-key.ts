import { recoverVerifyBody } from '../../../schemas/api/signup.ts';
import type { KeyRecovered } from '../../../schemas/api/signup.ts';
import { apiKeyId } from '../../../shared/domain/accounts/api-key.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount, lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import { deleteSignup, takeLink } from '../../../shared/stores/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import { accountFrozen } from '../admission/authentication.ts';
import { ApiError } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { keyRecoveredMail } from '../notices/account-mails.ts';
import { sendNotice } from '../notices/send-notice.ts';
import { createCodeJudge, useCode } from './judge-code.ts';
import { keyPage, linkProblem, tooOldPage } from './link-router.ts';
import type { LinkPage } from './link-router.ts';
import type { SignupDeps } from './signup-router.ts';

const KEY_NAME = 'recovered';

/**
 * POST /api/agent/recover/verify: gives a new key to the account of a token and code. 1. The code is judged and used
 * up; 2. the key is created; 3. the owner is notified. A crash after step 1 leaves a used code: the client asks for
 * another. They are two transactions, because the deletion of an account locks the account before its codes.
 */
export function createRecoverKey(deps: SignupDeps): (body: unknown) => Promise<KeyRecovered> {
  const routes = {
    judge: createCodeJudge(deps, 'recovery'),
    tokenField: 'recovery_token',
    tokenError: 'invalid_recovery_token',
    startOver: 'POST /api/agent/recover',
  } as const;
  return async (body) => {
    const { recovery_token: token, code } = parseRequest(recoverVerifyBody, body === undefined ? {} : body, 'body');
    const confirmed = await useCode(deps, routes, { token, code }, async (client, tokenHash, signup) => {
      await deleteSignup(client, tokenHash);
      return signup;
    });
    return { api_key: await issueRecoveredKey(deps, confirmed) };
  };
}

/**
 * Creates a key for the account of a mailbox that the requester has proved to read, and notifies its owner. The limit
 * of keys does not apply: whoever lost 20 keys must get another.
 *
 * @throws ApiError not_found when no account was opened with exactly this address, account_frozen
 */
async function issueRecoveredKey(deps: SignupDeps, confirmed: ConfirmedMailbox): Promise<string> {
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

const RECOVERY_LINK = '/api/agent/recover/link';

/** The page that gives a new key to the person who reads the mail, and never to the program that requested it. */
export function recoveryLink(deps: SignupDeps): LinkPage {
  const { pool, appUrl, baseUrl } = deps;
  return {
    path: RECOVERY_LINK,
    url: appUrl + RECOVERY_LINK,
    title: 'Get a new API key',
    question: `The button creates an API key for your account at ${new URL(appUrl).host}, and shows it here, this once.`,
    button: 'Create the key',
    async confirm(linkHash, response) {
      const confirmed = await inTransaction(pool, (client) => takeLink(client, linkHash, 'recovery'));
      if (confirmed === undefined) return tooOldPage(response);
      try {
        const apiKey = await issueRecoveredKey(deps, confirmed);
        response.status(201);
        return keyPage('Your new key', apiKey, baseUrl);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        response.status(error.status);
        return linkProblem(error.message);
      }
    },
  };
}
