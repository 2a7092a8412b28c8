import type { z } from 'zod';
import { usage as usageSchema, usageQuery } from '../../../schemas/api/account.ts';
import type { Usage, UsageItem } from '../../../schemas/api/account.ts';
import { readUsage, readUsageTotal } from '../../../shared/stores/accounts/usage.ts';
import type { UsageGrouping, UsageRow } from '../../../shared/stores/accounts/usage.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import { ok, route } from '../http/route.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { accountExamples } from '../openapi/examples/account-examples.ts';
import type { AccountDeps } from './account-deps.ts';

/** Routes and days are fewer. An account can have used more keys. */
const MAX_ITEMS = 1_000;

/** GET /v1/account/usage: what credits were spent on, by day, route or key. */
export function usageRoute(deps: AccountDeps): Route {
  return route({
    method: 'get',
    path: '/v1/account/usage',
    scope: 'account',
    operationId: 'getUsage',
    tag: 'Account',
    summary: 'Sum charges by day, route or key',
    description:
      'What credits were spent on: reads, new and resumed monitors, and renewals. Refunds and corrections are not usage, nor are charges that were reversed. `GET /v1/account/ledger` lists each charge.',
    query: usageQuery,
    example: { by: 'route' },
    answers: [ok('The sums.', usageSchema, { usage: accountExamples.usage })],
    errors: ['invalid_request'],
    handle: (call) => usage(deps, call),
  });
}

async function usage(
  { pool, clock }: AccountDeps,
  { caller, query }: Call<z.output<typeof usageQuery>>,
): Promise<Answer> {
  const { by, ...given } = query;
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

/** UTC days, both included, as YYYY-MM-DD. */
interface UsageRange {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 92;
/** The database has no year 0. */
const FIRST_DAY = Date.parse('0001-01-01');

/**
 * The range of a query: by default the last 30 days, today included.
 *
 * @param now milliseconds since 1970
 * @throws ApiError invalid_request for a range that is backwards or longer than 92 days
 */
function usageRange({ from, to }: Partial<Record<keyof UsageRange, string | undefined>>, now: number): UsageRange {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Math.max(FIRST_DAY, Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS));
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) {
    const default_ = to === undefined ? `, which is today (${last}, UTC) when absent` : '';
    throw invalidRequest([{ field: 'from', message: `must not be later than "to"${default_}` }]);
  }
  if (days > MAX_DAYS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS - 1} days before "to"` }]);
  }
  return { from: first, to: last };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
