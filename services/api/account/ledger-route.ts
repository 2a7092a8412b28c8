import { stringify } from 'csv-stringify/sync';
import type { z } from 'zod';
import { ledgerEntry, ledgerPage, ledgerQuery } from '../../../schemas/api/account.ts';
import type { LedgerEntry } from '../../../schemas/api/account.ts';
import { readLedgerPage } from '../../../shared/stores/ledger/ledger-pages.ts';
import type { StoredLedgerEntry } from '../../../shared/stores/ledger/ledger-pages.ts';
import { withoutFormulas } from '../http/csv-formulas.ts';
import { route } from '../http/route.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { accountExamples } from '../openapi/examples/account-examples.ts';
import type { AccountDeps } from './account-deps.ts';

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
      'Grants, purchases and charges, newest first, each with the balance after it; the balance is the sum of all amounts. A `pack` is a purchase, whose `reference` is that of its receipt; `refund` are credits taken back after a refund or a dispute of one, and a dispute that is won returns them as `pack`. A `correction` is made by the operator where the balance differed from the sum. A `reversal` gives back a charge for a read or a statement that was answered 503 because its outcome was not known; it has the `reference` and `request_id` of that charge. With `Accept: text/csv` the same page is sent as CSV, with the next page in the header `Link`.',
    query: ledgerQuery,
    example: { limit: 25 },
    answers: [
      {
        status: 200,
        description: 'A page of entries.',
        content: [
          { schema: ledgerPage, examples: { page: accountExamples.ledger } },
          { type: 'text/csv', schema: { type: 'string' }, examples: { table: accountExamples.ledgerTable } },
        ],
        headers: [{ name: 'Link', optional: true }],
      },
    ],
    errors: ['invalid_request'],
    produces: ['application/json', CSV],
    handle: (call) => ledger(deps, call),
  });
}

async function ledger(
  { pool, baseUrl }: AccountDeps,
  { caller, query, type }: Call<z.output<typeof ledgerQuery>>,
): Promise<Answer> {
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

/** An entry as the API shows it. */
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
