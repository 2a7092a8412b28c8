import type { Response } from 'express';
import { verifyBody } from '../../../schemas/api/signup.ts';
import type { AccountCreated } from '../../../schemas/api/signup.ts';
import { creditedFormsOf, creditedMailboxOf } from '../../../shared/domain/accounts/credited-mailbox.ts';
import { MONITOR_PERIOD_CREDITS, SIGN_UP_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { isLargeProvider, registrableDomain } from '../../../shared/domain/accounts/mailbox.ts';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import { html } from '../../../shared/html/html.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import {
  isCreditedMailbox,
  recordCreditedMailboxes,
  takeLink,
  takeOverDebts,
} from '../../../shared/stores/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import { takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { credit } from '../../../shared/stores/ledger/ledger.ts';
import { ApiError } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Page } from '../pages/page.ts';
import { createCodeJudge, useCode } from './judge-code.ts';
import { keyPage, linkProblem, tooOldPage } from './link-router.ts';
import type { LinkPage } from './link-router.ts';
import type { SignupDeps } from './signup-router.ts';

/**
 * POST /api/agent/verify: opens the account for a token and code, in one transaction, so a crash leaves the account
 * with its key and credits, or nothing.
 */
export function createVerifyCode(deps: SignupDeps): (body: unknown) => Promise<AccountCreated> {
  const judge = createCodeJudge(deps, 'signup');
  const routes = {
    judge,
    tokenField: 'signup_token',
    tokenError: 'invalid_signup_token',
    startOver: 'POST /api/agent/signup',
  } as const;
  return async (body) => {
    const { signup_token: token, code } = parseRequest(verifyBody, body === undefined ? {} : body, 'body');
    const opened = await useCode(deps, routes, { token, code }, (client, _tokenHash, signup) =>
      openForMailbox(client, signup, judge.mailboxHash),
    );
    if (opened.outcome === 'account exists') throw accountExists(deps.dashboardUrl);
    return accountCreated(opened.apiKey, opened.given, deps);
  };
}

/** The outcome for a mailbox that the requester has proved to read. */
type OpenedForMailbox = { outcome: 'account exists' } | { outcome: 'created'; apiKey: string; given: FreeCredits };

/** Waits for a concurrent sign-up of the same mailbox, which then owns the account. Call it in a transaction. */
async function openForMailbox(
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

const NO_PACK = 0;

/** The answer to a right code: the key, and what an agent needs to know to continue. */
function accountCreated(
  apiKey: string,
  freeCredits: FreeCredits,
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
): AccountCreated {
  const { requestsPerSecond, requestsPerDay } = planOf(NO_PACK);
  const { credits } = freeCredits;
  // Free operations work without credits too.
  const example = credits > 0 ? '/v1/forum/search?q=coffee&limit=3' : '/v1/account';
  return {
    status: 'account_created',
    api_key: apiKey,
    credits,
    limits: { requests_per_second: requestsPerSecond, requests_per_day: requestsPerDay! },
    next: 'Store api_key where secrets are kept, and send it as "Authorization: Bearer <API_KEY>" with every request to /v1.',
    example_request: `curl -s -H 'Authorization: Bearer <API_KEY>' '${baseUrl}${example}'`,
    docs: `${baseUrl}/docs`,
    notes: [
      'api_key is shown this once: keep it secret, and out of chat transcripts and logs.',
      ...('reason' in freeCredits ? [freeCredits.reason] : []),
      `Reading the forum costs 1 credit a call, a running monitor ${MONITOR_PERIOD_CREDITS} credits every 24 hours.`,
      `The owner of the mailbox sees monitors, keys and credits, and buys packs, at ${dashboardUrl}/dashboard: sign in with the same address.`,
      'Free of charge: matches of monitors, pausing and deleting monitors, the account, and every request that fails.',
    ].join(' '),
  };
}

const SIGNUP_LINK = '/api/agent/link';

/**
 * The page that finishes a sign-up in the browser of the person who reads the mail. The key is shown there once, and
 * never to the program that requested the mail. One transaction: a crash leaves the link unused or the account
 * complete.
 */
export function signupLink(deps: SignupDeps): LinkPage {
  const { pool, appUrl, signup } = deps;
  const mailboxHash = createMailboxHash(deps.secretKey, deps.previousKeys);
  const { host } = new URL(appUrl);
  return {
    path: SIGNUP_LINK,
    url: appUrl + SIGNUP_LINK,
    title: 'Open an account',
    question: `The button opens an account at ${host} for your e-mail address, and shows its API key here, this once.`,
    button: 'Open the account',
    async confirm(linkHash, response) {
      if (!signup.enabled) return failed(response, 503, 'Sign-up is off here.');
      const opened = await inTransaction(pool, async (client) => {
        const confirmed = await takeLink(client, linkHash, 'signup');
        return confirmed && openForMailbox(client, confirmed, mailboxHash);
      });
      if (opened === undefined) return tooOldPage(response);
      if (opened.outcome === 'account exists') {
        return failed(
          response,
          409,
          `This mailbox has an account already. Sign in at ${deps.dashboardUrl}/dashboard/keys to create a key.`,
        );
      }
      response.status(201);
      return openedPage(opened, deps);
    },
  };
}

function failed(response: Response, status: number, description: string): Page {
  response.status(status);
  return linkProblem(description);
}

function openedPage(
  { apiKey, given }: Extract<OpenedForMailbox, { outcome: 'created' }>,
  { baseUrl, dashboardUrl }: SignupDeps,
): Page {
  const more = html`<p>The account has ${given.credits} credits. ${'reason' in given && given.reason}</p>
    <p>
      Monitors, keys and credits are in the <a href="${dashboardUrl}/dashboard">dashboard</a>: sign in with the same
      address.
    </p>
    <p class="note">How it is used: <a href="${baseUrl}/docs">${baseUrl}/docs</a></p>`;
  return keyPage('Your account is open', apiKey, baseUrl, more);
}

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
