import type { Pool } from '../../shared/postgres/pool.ts';
import { findLedgerMismatches } from '../../shared/stores/accounts/ledger-check.ts';
import { AdminError } from './admin-error.ts';
import type { Command } from './command.ts';

const PAGE = 100;

export const LEDGER_CHECK: Command = {
  name: 'ledger check',
  summary:
    'compare every balance with its ledger: a line for each account that differs, and exit code 1 if there are any',
  optionsHelp: [],
  options: {},
  prepare: () => (pool) => Promise.resolve(mismatchesOf(pool)),
};

async function* mismatchesOf(pool: Pool): AsyncIterable<object> {
  let differing = 0;
  for (let afterId: string | undefined = ''; afterId !== undefined;) {
    const { mismatches, lastId } = await findLedgerMismatches(pool, afterId, PAGE);
    yield* mismatches;
    differing += mismatches.length;
    afterId = lastId;
  }
  if (differing > 0) throw new AdminError(`${differing} balances differ from their ledger.`);
  yield { status: 'every balance is what its ledger says' };
}
