import { recoverVerifyBody, verifyBody } from '../../../schemas/api/signup.ts';
import type { AccountCreated, KeyRecovered } from '../../../schemas/api/signup.ts';
import { findAccount, lockAccount, openAccount } from '../../../shared/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { apiKeyId } from '../../../shared/accounts/rules/credentials.ts';
import {
  createMailboxHash,
  creditedFormsOf,
  creditedMailboxOf,
  isLargeProvider,
  registrableDomain,
} from '../../../shared/accounts/rules/mailbox.ts';
import type { MailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import {
  deleteSignup,
  isCreditedMailbox,
  recordCreditedMailboxes,
  takeLink,
  takeOverDebts,
} from '../../../shared/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/accounts/signups.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { credit } from '../../../shared/billing/ledger.ts';
import { MONITOR_PERIOD_CREDITS, planOf, SIGN_UP_CREDITS } from '../../../shared/billing/rules/plans.ts';
import { html } from '../../../shared/http/html.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { keyRecoveredMail, sendSecurityMail } from '../account/security-mails.ts';
import { accountFrozen } from '../admission/caller.ts';
import { ApiError, parseRequest } from '../http/api-error.ts';
import type { Page } from '../../../shared/http/page.ts';
import { createCodeChecker, useCode } from './check-code.ts';
import { keyPage, linkProblem, tooOldPage } from './link-router.ts';
import type { LinkPage } from './link-router.ts';
import type { SignupDeps } from './signup-routes.ts';

/** POST /api/agent/verify: opens the account in one transaction, with its key and credits, or not at all. */
export function createVerifyCode(deps: SignupDeps): (body: unknown) => Promise<AccountCreated> {
  const checker = createCodeChecker(deps, 'signup');
  const words = { tokenField: 'signup_token', tokenError: 'invalid_signup_token' } as const;
  const routes = { checker, ...words, startOver: 'POST /api/agent/signup' };
  return async (body) => {
    const { signup_token: token, code } = parseRequest(verifyBody, body === undefined ? {} : body, 'body');
    const opened = await useCode(deps, routes, { token, code }, (client, _tokenHash, signup) =>
      openForMailbox(client, signup, checker.mailboxHash),
    );
    if (opened === 'account exists') {
      throw new ApiError(
        'account_exists',
        `This mailbox already has an account. To get a key, use POST /api/agent/recover with the address of that account, or let its owner create one at ${deps.dashboardUrl}/dashboard/keys.`,
      );
    }
    return accountCreated(opened.apiKey, opened.given, deps);
  };
}

/** Waits for a concurrent sign-up of the same mailbox, which then owns the account. Call it in a transaction. */
async function openForMailbox(
  db: Queryable,
  { email, mailbox }: ConfirmedMailbox,
  mailboxHash: MailboxHash,
): Promise<{ apiKey: string; given: FreeCredits } | 'account exists'> {
  const opened = await openAccount(db, { email, credits: 0, pack: 0, keyName: 'agent sign-up' });
  if (!opened) return 'account exists';
  const given = await grantFreeCredits(db, { accountId: opened.accountId, mailbox }, mailboxHash);
  return { apiKey: opened.apiKey, given };
}

function accountCreated(
  apiKey: string,
  freeCredits: FreeCredits,
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
): AccountCreated {
  const { requestsPerSecond, requestsPerDay } = planOf(0);
  const { credits } = freeCredits;
  // Free operations work without credits too.
  const example = credits > 0 ? '/v1/forum/search?q=coffee&limit=3' : '/v1/account';
  return {
    status: 'account_created',
    api_key: apiKey,
    credits,
    limits: { requests_per_second: requestsPerSecond, requests_per_day: requestsPerDay! },
    next: 'Store api_key with your other secrets, and send it as "Authorization: Bearer <API_KEY>" with every request to /v1.',
    example_request: `curl -s -H 'Authorization: Bearer <API_KEY>' '${baseUrl}${example}'`,
    docs: `${baseUrl}/docs`,
    notes: [
      'api_key is shown only once: keep it secret, and out of chat transcripts and logs.',
      ...('reason' in freeCredits ? [freeCredits.reason] : []),
      `Reading the forum costs 1 credit per call; a running monitor costs ${MONITOR_PERIOD_CREDITS} credits every 24 hours.`,
      `The owner of the mailbox can view monitors, keys and credits and buy packs at ${dashboardUrl}/dashboard: sign in with the same address.`,
      'Reading matches, pausing and deleting monitors, account routes and failed requests are free.',
    ].join(' '),
  };
}

const SIGNUP_LINK = '/api/agent/link';

/** Shows the key to the person who reads the mail, and never to the program that requested it. One transaction. */
export function signupLink(deps: SignupDeps): LinkPage {
  const { pool, appUrl, signup } = deps;
  const mailboxHash = createMailboxHash(deps.secretKey, deps.previousKeys);
  const { host } = new URL(appUrl);
  return {
    path: SIGNUP_LINK,
    url: appUrl + SIGNUP_LINK,
    title: 'Open an account',
    question: `Press the button to open an account at ${host} for your e-mail address. Its API key is then shown here, only once.`,
    button: 'Open the account',
    async confirm(linkHash, response) {
      if (!signup.enabled) return linkProblem(response, 503, 'Sign-up is disabled.');
      const opened = await inTransaction(pool, async (client) => {
        const confirmed = await takeLink(client, linkHash, 'signup');
        return confirmed && openForMailbox(client, confirmed, mailboxHash);
      });
      if (opened === undefined) return tooOldPage(response);
      if (opened === 'account exists') {
        const instead = `Sign in at ${deps.dashboardUrl}/dashboard/keys to create a key.`;
        return linkProblem(response, 409, `This mailbox already has an account. ${instead}`);
      }
      response.status(201);
      return openedPage(opened, deps);
    },
  };
}

function openedPage(
  { apiKey, given }: { apiKey: string; given: FreeCredits },
  { baseUrl, dashboardUrl }: SignupDeps,
): Page {
  const more = html`<p>The account has ${given.credits} credits. ${'reason' in given && given.reason}</p>
    <p>
      Find your monitors, keys and credits in the <a href="${dashboardUrl}/dashboard">dashboard</a>: sign in with the
      same address.
    </p>
    <p class="note">How to use it: <a href="${baseUrl}/docs">${baseUrl}/docs</a></p>`;
  return keyPage('Your account is open', apiKey, baseUrl, more);
}

const DAY = 24 * 3_600;
/** The owner of a domain can create any number of subdomains and mailboxes. */
const CREDITED_PER_DOMAIN_DAILY = 3;

const HAD_CREDITS = {
  credits: 0,
  reason: 'This mailbox already received free credits, so the account starts with 0 credits.',
} as const;

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
  const ofDomain = { name: `signup:credits:${owned}`, maxUses: CREDITED_PER_DOMAIN_DAILY, seconds: DAY };
  if (!isLargeProvider(domain) && (await takeUse(db, ofDomain)) > 0) {
    const reason = `Only ${CREDITED_PER_DOMAIN_DAILY} new accounts of ${owned} get free credits within 24 hours, so this one starts with 0 credits.`;
    return { credits: 0, reason };
  }
  // Also under the mailbox itself, for processes of a release that knows no other form.
  if (!(await recordCreditedMailboxes(db, mailboxHash(credited), mailboxHash(mailbox)))) return HAD_CREDITS;
  await credit(db, { accountId, kind: 'grant', credits: SIGN_UP_CREDITS, reference: 'opening' });
  return { credits: SIGN_UP_CREDITS };
}

const KEY_NAME = 'recovered';

/**
 * POST /api/agent/recover/verify: gives a new key to the account of a token and code. 1. The code is checked and used
 * up; 2. the key is created; 3. the owner is notified. A crash after step 1 leaves a used code: the client asks for
 * another. They are two transactions, because the deletion of an account locks the account before its codes.
 */
export function createRecoverKey(deps: SignupDeps): (body: unknown) => Promise<KeyRecovered> {
  const words = { tokenField: 'recovery_token', tokenError: 'invalid_recovery_token' } as const;
  const routes = { checker: createCodeChecker(deps, 'recovery'), ...words, startOver: 'POST /api/agent/recover' };
  return async (body) => {
    const { recovery_token: token, code } = parseRequest(recoverVerifyBody, body === undefined ? {} : body, 'body');
    const confirmed = await useCode(deps, routes, { token, code }, async (client, tokenHash, signup) => {
      await deleteSignup(client, tokenHash);
      return signup;
    });
    return { api_key: await issueRecoveredKey(deps, confirmed) };
  };
}

/** The limit of keys does not apply: whoever lost 20 must get another. @throws ApiError not_found, account_frozen */
async function issueRecoveredKey(deps: SignupDeps, confirmed: ConfirmedMailbox): Promise<string> {
  const key = await inTransaction(deps.pool, (client) => issueFor(client, confirmed));
  const recovered = { keyId: apiKeyId(key)!, at: new Date() };
  await sendSecurityMail(deps, keyRecoveredMail(confirmed.email, recovered, deps.dashboardUrl), 'a key was recovered');
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
      'No account has exactly this address. Capital letters, dots and plus tags make a difference.',
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
    question: `Press the button to create an API key for your account at ${new URL(appUrl).host}. The key is then shown here, only once.`,
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
        return linkProblem(response, error.status, error.message);
      }
    },
  };
}
