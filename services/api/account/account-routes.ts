import { account, accountDeleted, deleteAccountBody } from '../../../schemas/api/account.ts';
import type { Account } from '../../../schemas/api/account.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { closeAccount } from '../../../shared/accounts/close-account.ts';
import { creditedMailboxOf, parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import { planOf } from '../../../shared/billing/rules/plans.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ledgerRoute, usageRoute } from '../billing/ledger-routes.ts';
import { ApiError, invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { grantRoutes, keyRoutes } from './key-routes.ts';
import { accountDeletedMail, sendSecurityMail } from './security-mails.ts';

export interface AccountDeps {
  pool: Pool;
  /** Where clients reach the API and sign-up, without a trailing slash. */
  baseUrl: string;
  appUrl: string;
  /** Where people reach the dashboard, without a trailing slash. */
  dashboardUrl: string;
  clock: Clock;
  mailer: Mailer;
  logger: Logger;
  /** The keyed hash of a mailbox, which is kept after its account is deleted. */
  mailboxHash: (mailbox: string) => Buffer;
  /** Opens the records of OAuth grants. */
  secretBox: SecretBox;
}

export function accountRoutes(deps: AccountDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/account',
      scope: 'account',
      operationId: 'getAccount',
      tag: 'Account',
      summary: 'Get balance, plan and limits',
      description: 'The account that the key belongs to.',
      responses: [ok('The account.', account)],
      handle: (request) => show(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/account',
      scope: 'account',
      operationId: 'deleteAccount',
      tag: 'Account',
      summary: 'Delete the account',
      description:
        'Deletes the account permanently. Its keys stop working immediately, and its monitors stop and are deleted. Matches, webhook URLs and delivery attempts are removed shortly afterwards. Remaining credits are lost. The ledger is kept without the e-mail address, together with a keyed hash of the mailbox and any debt: a new account for the same mailbox starts with that debt. The body must contain the address of the account, so that no script deletes an account by accident. A notice is mailed to that address.',
      body: { schema: deleteAccountBody },
      responses: [ok('The account is deleted.', accountDeleted)],
      handle: (request) => remove(deps, request),
    }),
    ledgerRoute(deps),
    usageRoute(deps),
    ...keyRoutes(deps),
    ...grantRoutes(deps),
  ];
}

async function show({ pool }: AccountDeps, { caller }: RouteRequest): Promise<RouteResponse> {
  const account = await findAccount(pool, caller.accountId);
  if (!account) throw new Error(`the account ${caller.accountId} no longer exists`);
  return { status: 200, body: accountResource(account) };
}

/**
 * Deletes the account for good: keys and monitors stop with the commit, and the data is removed afterwards. The address
 * in the body shows that the request means this account, and no other that the client has a key to.
 */
async function remove(
  deps: AccountDeps,
  { caller, body: { email } }: RouteRequest<unknown, { email: string }>,
): Promise<RouteResponse> {
  const account = await findAccount(deps.pool, caller.accountId);
  if (account?.status === 'active') {
    // As stored, or in another spelling of its domain. The address of the demo account cannot be parsed.
    if (email !== account.email && parseEmailAddress(email)?.address !== account.email) {
      throw invalidRequest([
        { field: 'email', message: 'must be the address of this account, as GET /v1/account shows it' },
      ]);
    }
    const isClosed = await closeAccount(deps.pool, account.id, {
      mailboxHash: deps.mailboxHash(creditedMailboxOf(account.mailbox)),
    });
    if (isClosed) {
      const deleted = { at: new Date(deps.clock()), keyId: caller.keyId };
      await sendSecurityMail(
        deps,
        accountDeletedMail(account.email, deleted, deps.dashboardUrl),
        'an account was deleted',
      );
    }
  }
  return { status: 200, body: { status: 'deleted' } };
}

function accountResource(account: StoredAccount): Account {
  const plan = planOf(account.pack);
  return {
    id: account.id,
    email: account.email,
    balance: account.balance,
    plan: plan.name,
    limits: {
      monitors: plan.monitors,
      daily_match_cap: plan.dailyMatchCap,
      requests_per_second: plan.requestsPerSecond,
      request_burst: plan.burst,
      requests_per_day: plan.requestsPerDay,
    },
    created_at: account.createdAt.toISOString(),
  };
}

const SOLVED_BY_A_PACK: ReadonlySet<string> = new Set(['insufficient_credits', 'monitor_limit_reached']);

/**
 * Adds where packs are sold to the message of each refusal that a pack would solve: an agent can tell its owner.
 */
export function withBillingAddress(routes: readonly Route[], dashboardUrl: string): Route[] {
  const sentence = ` Buy a pack at ${dashboardUrl}/dashboard/billing.`;
  return routes.map((route) => ({
    ...route,
    async handle(request) {
      try {
        return await route.handle(request);
      } catch (error) {
        if (!(error instanceof ApiError) || !SOLVED_BY_A_PACK.has(error.code)) throw error;
        throw new ApiError(error.code, error.message + sentence, { headers: error.headers });
      }
    },
  }));
}
