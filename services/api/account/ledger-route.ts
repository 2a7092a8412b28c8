import { ledgerQuery } from '../../../schemas/api/account.ts';
import { readLedgerPage } from '../../../shared/stores/ledger/ledger-pages.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountDeps } from './account-deps.ts';
import { csvOf, entryOf } from './ledger-csv.ts';

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
