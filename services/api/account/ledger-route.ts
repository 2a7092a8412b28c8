import { stringify } from 'csv-stringify/sync';
import { ledgerQuery, ledgerEntry } from '../../../schemas/api/account.ts';
import type { LedgerEntry } from '../../../schemas/api/account.ts';
import { readLedgerPage } from '../../../shared/stores/ledger/ledger-pages.ts';
import type { StoredLedgerEntry } from '../../../shared/stores/ledger/ledger-pages.ts';
import { withoutFormulas } from '../http/csv-formulas.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountDeps } from './account-deps.ts';

const CSV = 'text/csv';
const PATH = '/v1/account/ledger';

/** GET /v1/account/ledger: every change of the balance, newest first, as JSON or as CSV. */
export function ledgerRoute(deps: AccountDeps): Route {
  return {
    method: 'get',
    path: PATH,
    scope: 'account',
    readsQuery: true,
    produces: ['application/json', CSV],
    handle: (call) => ledger(deps, call),
  };
}

async function ledger({ pool, baseUrl }: AccountDeps, { caller, query, type }: Call): Promise<Answer> {
  const { limit, after } = parseRequest(ledgerQuery, query, 'query');
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
