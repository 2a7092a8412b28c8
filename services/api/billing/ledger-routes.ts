import { stringify } from 'csv-stringify/sync';
import type { z } from 'zod';
import {
  ledgerEntry,
  ledgerPage,
  ledgerQuery,
  usage as usageSchema,
  usageQuery,
} from '../../../schemas/api/account.ts';
import type { LedgerEntry, Usage, UsageItem } from '../../../schemas/api/account.ts';
import { readLedgerPage, readUsage, readUsageTotal } from '../../../shared/billing/ledger-pages.ts';
import type { StoredLedgerEntry, UsageGrouping, UsageRow } from '../../../shared/billing/ledger-pages.ts';
import { withoutFormulas } from '../matches/export-formats.ts';
import { invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { AccountDeps } from '../account/account-routes.ts';

const CSV = 'text/csv';
const PATH = '/v1/account/ledger';

/** GET /v1/account/ledger: every change of the balance, newest first, as JSON or as CSV. */
export function ledgerRoute(deps: AccountDeps): Route {
  return route({
    method: 'get',
    path: '/v1/account/ledger',
    scope: 'account',
    operationId: 'getLedger',
    tag: 'Account',
    summary: 'List balance changes',
    description:
      'Grants, purchases and charges, newest first. Each entry has the balance after it; the balance is the sum of all amounts. A `pack` is a purchase; its `reference` is the one on the receipt. A `refund` takes credits back after a refund or a dispute; if the dispute is won, they return as a `pack`. A `correction` is made by the operator when the balance differed from the sum. A `reversal` refunds the charge for a read or a statement that was answered with 503 because its outcome was unknown; it has the `reference` and `request_id` of that charge. With `Accept: text/csv`, the same page is sent as CSV, with the next page in the `Link` header.',
    query: ledgerQuery,
    example: { limit: 25 },
    responses: [
      {
        status: 200,
        description: 'A page of entries.',
        content: [
          { schema: ledgerPage },
          { type: 'text/csv', schema: { type: 'string' }, examples: { table: csvOf([exampleOf(ledgerEntry)]) } },
        ],
        headers: [{ name: 'Link', optional: true }],
      },
    ],
    handle: (request) => ledger(deps, request),
  });
}

async function ledger(
  { pool, baseUrl }: AccountDeps,
  { caller, query, type }: RouteRequest<z.output<typeof ledgerQuery>>,
): Promise<RouteResponse> {
  const { limit, after } = query;
  const beforeId = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
  // One row more than requested shows whether there is a next page.
  const rows = await readLedgerPage(pool, { accountId: caller.accountId, beforeId, limit: limit + 1 });
  const items = rows.slice(0, limit).map(entryOf);
  const next = rows.length > limit ? items.at(-1)!.id : null;
  // The cursor goes into a Link header (RFC 8288), because CSV has no place for it.
  const headers: Record<string, string> =
    next === null ? {} : { Link: `<${baseUrl}${PATH}?limit=${limit}&after=${next}>; rel="next"` };
  if (type !== CSV) return { status: 200, body: { items, after: next }, headers };
  return {
    status: 200,
    body: Buffer.from(csvOf(items)),
    headers: { ...headers, 'Content-Type': `${CSV}; charset=utf-8` },
  };
}

export function entryOf(stored: StoredLedgerEntry): LedgerEntry {
  return ledgerEntry.parse({
    id: String(stored.id),
    created_at: stored.createdAt.toISOString(),
    kind: stored.kind,
    amount: stored.amount,
    balance_after: stored.balanceAfter,
    reference: stored.reference,
    request_id: stored.requestId,
    route: stored.route,
    key_id: stored.keyId,
  });
}

/** CSV by RFC 4180. Cells that a spreadsheet would read as a formula are turned into text. */
export function csvOf(items: readonly LedgerEntry[], { header = true } = {}): string {
  return stringify([...items], {
    header,
    columns: ['id', 'created_at', 'kind', 'amount', 'balance_after', 'reference', 'request_id', 'route', 'key_id'],
    record_delimiter: 'windows',
    cast: { string: withoutFormulas },
  });
}

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
      'What credits were spent on: reads, new and resumed monitors, and renewals. Refunds, corrections and reversed charges do not count as usage. `GET /v1/account/ledger` lists each charge.',
    query: usageQuery,
    example: { by: 'route' },
    responses: [ok('The sums.', usageSchema)],
    handle: (request) => usage(deps, request),
  });
}

async function usage(
  { pool, clock }: AccountDeps,
  { caller, query }: RouteRequest<z.output<typeof usageQuery>>,
): Promise<RouteResponse> {
  const { by, ...given } = query;
  const range = usageRange(given, clock());
  const filter = { accountId: caller.accountId, ...range };
  const [rows, total] = await Promise.all([
    readUsage(pool, { ...filter, by, limit: MAX_ITEMS }),
    readUsageTotal(pool, filter),
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
    const default_ = to === undefined ? `, which defaults to today (${last}, UTC)` : '';
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
