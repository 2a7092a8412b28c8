import type { Account } from '../../schemas/account.ts';
import { planOf } from '../../shared/domain/plans.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { findAccount } from '../../shared/stores/accounts.ts';
import type { StoredAccount } from '../../shared/stores/accounts.ts';
import type { Route } from './route.ts';

export function accountRoutes(pool: Pool): Route[] {
  return [
    {
      method: 'get',
      path: '/v1/account',
      async handle({ caller }) {
        const account = await findAccount(pool, caller.accountId);
        if (!account) throw new Error(`the account of key ${caller.keyId} is gone`);
        return { status: 200, body: accountResource(account) };
      },
    },
  ];
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
    created_at: account.created_at.toISOString(),
  };
}
