import { checkLedgerPage } from '../../shared/billing/ledger-check.ts';
import type { CheckedLedgerPage, ComparedLedger } from '../../shared/billing/ledger-check.ts';
import { storeLedgerMismatches } from '../../shared/maintenance/settings.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

type LedgerCheckDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & Continuing;

/**
 * Compares every account's balance with its ledger. Differences are logged and counted, never repaired: an operator
 * must investigate them (`admin ledger correct`).
 *
 * @returns false when it was stopped before the end
 */
export async function checkLedger(options: LedgerCheckDeps): Promise<boolean> {
  const { metrics, logger, mayContinue } = options;
  let found = 0;
  let checked: string | undefined = '';
  while (checked !== undefined) {
    if (!(await mayContinue())) return false;
    const { mismatches, lastId, tooLong }: CheckedLedgerPage = await checkLedgerPage(options.pool, checked);
    if (tooLong !== undefined)
      logger.error(
        { err: tooLong, account_id: lastId },
        'the ledger of an account is too long to compare with its balance',
      );
    for (const mismatch of mismatches)
      logger.error(logFields(mismatch), 'the balance of an account differs from its ledger');
    found += mismatches.length;
    checked = lastId;
  }
  metrics.ledgerMismatches.set(found);
  await storeLedgerMismatches(options.pool, found);
  logger.info({ mismatches: found }, 'the ledger was compared with the balances');
  return true;
}

function logFields(mismatch: ComparedLedger): object {
  return {
    account_id: mismatch.accountId,
    balance: mismatch.balance,
    sum: mismatch.sum,
    broken_entries: mismatch.brokenEntries,
    first_broken_id: mismatch.firstBrokenId,
  };
}
