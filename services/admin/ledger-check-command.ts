import type { Pool } from '../../shared/postgres/pool.ts';
import { findLedgerMismatches } from '../../shared/stores/accounts/ledger-check.ts';
import { AdminError } from './admin-error.ts';
import type { PostgresCommand } from './command.ts';
import { printedRow } from './printed-row.ts';

const PAGE = 100;

export const LEDGER_CHECK: PostgresCommand = {
  name: 'ledger check',
  summary:
    'compare every balance with its ledger, print a line for each account that differs, and exit with 1 if any does',
  optionsHelp: [],
  examples: ['ledger check'],
  options: {},
  prepare: () => (pool) => Promise.resolve(ledgerMismatches(pool)),
};

async function* ledgerMismatches(pool: Pool): AsyncIterable<object> {
  let differing = 0;
  for (let afterId: string | undefined = ''; afterId !== undefined;) {
    const { mismatches, lastId } = await findLedgerMismatches(pool, afterId, PAGE);
    yield* mismatches.map(printedRow);
    differing += mismatches.length;
    afterId = lastId;
  }
  if (differing > 0) throw new AdminError(`${differing} balances differ from their ledger.`);
  yield { status: 'every balance is what its ledger says' };
}
