import { deleteAccountBody } from '../../../schemas/api/account.ts';
import type { Account } from '../../../schemas/api/account.ts';
import { creditedMailboxOf } from '../../../shared/domain/accounts/credited-mailbox.ts';
import { parseEmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { invalidRequest, parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { sendNotice } from '../notices/send-notice.ts';
import { accountDeletedMail } from '../notices/account-mails.ts';
import type { AccountDeps } from './account-deps.ts';
import { grantRoutes, keyRoutes } from './key-routes.ts';
import { ledgerRoute } from './ledger-route.ts';
import { usageRoute } from './usage-route.ts';

/** All routes below /v1/account. */
export function accountRoutes(deps: AccountDeps): Route[] {
  return [
    { method: 'get', path: '/v1/account', scope: 'account', handle: (call) => show(deps, call) },
    { method: 'delete', path: '/v1/account', scope: 'account', readsBody: true, handle: (call) => remove(deps, call) },
    ledgerRoute(deps),
    usageRoute(deps),
    ...keyRoutes(deps),
    ...grantRoutes(deps),
  ];
}

async function show({ pool }: AccountDeps, { caller }: Call): Promise<Answer> {
  const account = await findAccount(pool, caller.accountId);
  if (!account) throw new Error(`the account ${caller.accountId} no longer exists`);
  return { status: 200, body: accountResource(account) };
}

/**
 * Deletes the account for good: keys and monitors stop with the commit, and the data is removed afterwards. The address
 * in the body shows that the request means this account, and no other that the client has a key to.
 */
async function remove(deps: AccountDeps, { caller, body }: Call): Promise<Answer> {
  const { email } = parseRequest(deleteAccountBody, body === undefined ? {} : body, 'body');
  const account = await findAccount(deps.pool, caller.accountId);
  if (account?.status === 'active') {
    // As stored, or in another spelling of its domain. The demo account's address is none that could be parsed.
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
      await sendNotice(deps, accountDeletedMail(account.email, deleted, deps.dashboardUrl), 'an account was deleted');
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
