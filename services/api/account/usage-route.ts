import { usageQuery } from '../../../schemas/api/account.ts';
import type { Usage, UsageItem } from '../../../schemas/api/account.ts';
import { readUsage, readUsageTotal } from '../../../shared/stores/accounts/usage.ts';
import type { UsageGrouping, UsageRow } from '../../../shared/stores/accounts/usage.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountDeps } from './account-deps.ts';
import { usageRange } from './usage-range.ts';

/** Routes and days are fewer. An account can have used more keys. */
const MAX_ITEMS = 1_000;

/** GET /v1/account/usage: what credits were spent on, by day, route or key. */
export function usageRoute(deps: AccountDeps): Route {
  return {
    method: 'get',
    path: '/v1/account/usage',
    scope: 'account',
    readsQuery: true,
    handle: (call) => usage(deps, call),
  };
}

async function usage({ pool, clock }: AccountDeps, { caller, query }: Call): Promise<Answer> {
  const { by, ...given } = parseRequest(usageQuery, query, 'query');
  const range = usageRange(given, clock());
  const asked = { accountId: caller.accountId, ...range };
  const [rows, total] = await Promise.all([
    readUsage(pool, { ...asked, by, limit: MAX_ITEMS }),
    readUsageTotal(pool, asked),
  ]);
  const body: Usage = { by, ...range, items: rows.map((row) => itemOf(by, row)), total };
  return { status: 200, body };
}

function itemOf(by: UsageGrouping, { name, charges, credits }: UsageRow): UsageItem {
  return {
    day: by === 'day' ? name : null,
    route: by === 'route' ? name : null,
    key_id: by === 'key' ? name : null,
    charges,
    credits,
  };
}
