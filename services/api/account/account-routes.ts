import type { Account } from '../../../schemas/api/account.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountDeps } from './account-deps.ts';
import { grantRoutes } from './grant-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { ledgerRoute } from './ledger-route.ts';

/** All routes below /v1/account. */
export function accountRoutes(deps: AccountDeps): Route[] {
  return [
    { method: 'get', path: '/v1/account', handle: (call) => show(deps, call) },
    { method: 'delete', path: '/v1/account', handle: (call) => remove(deps, call) },
    ledgerRoute(deps),
    ...keyRoutes(deps),
    ...grantRoutes(deps),
  ];
}

async function show({ pool }: AccountDeps, { caller }: Call): Promise<Answer> {
  const account = await findAccount(pool, caller.accountId);
  if (!account) throw new Error(`the account ${caller.accountId} no longer exists`);
  return { status: 200, body: accountResource(account) };
}

/** Deletes the account for good: keys and monitors stop with the commit, and the data is removed afterwards. */
async function remove({ pool, mailboxHash }: AccountDeps, { caller }: Call): Promise<Answer> {
  const account = await findAccount(pool, caller.accountId);
  if (account) await closeAccount(pool, account.id, { mailboxHash: mailboxHash(account.mailbox) });
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
