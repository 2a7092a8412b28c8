import { stringify } from 'csv-stringify/sync';
import { ledgerEntry } from '../../../schemas/api/account.ts';
import type { LedgerEntry } from '../../../schemas/api/account.ts';
import type { StoredLedgerEntry } from '../../../shared/stores/ledger/ledger-pages.ts';
import { withoutFormulas } from '../http/csv-formulas.ts';

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
