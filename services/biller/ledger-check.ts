import { sqlState } from '../../shared/postgres/postgres-away.ts';
import { findLedgerMismatches, findNextAccountId } from '../../shared/stores/accounts/ledger-check.ts';
import type { LedgerMismatch, LedgerPage } from '../../shared/stores/accounts/ledger-check.ts';
import { storeLedgerMismatches } from '../../shared/stores/upkeep/settings.ts';
import type { BillerDeps } from './biller-deps.ts';

const ACCOUNTS_PER_PAGE = 100;

export type LedgerCheckDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & {
  signal: AbortSignal;
  /** Called before each page; returns whether this process still has the lease. */
  mayContinue: () => Promise<boolean>;
};

/**
 * Compares every account's balance with its ledger. Differences are logged and counted, never repaired: an operator
 * must investigate them.
 *
 * @returns false when it was stopped before the end
 */
export async function checkLedger(options: LedgerCheckDeps): Promise<boolean> {
  const { metrics, logger, signal, mayContinue } = options;
  let found = 0;
  let checked: string | undefined = '';
  while (checked !== undefined) {
    if (signal.aborted || !(await mayContinue())) return false;
    const { mismatches, lastId }: LedgerPage = await checkPage(options, checked, ACCOUNTS_PER_PAGE);
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

/**
 * Checks one page. A page that exceeds the statement timeout is repeated with fewer accounts, down to one. An account
 * that still exceeds it is logged and skipped.
 */
async function checkPage(options: LedgerCheckDeps, afterId: string, limit: number): Promise<LedgerPage> {
  const { pool, logger } = options;
  try {
    return await findLedgerMismatches(pool, afterId, limit);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    if (limit > 1) return checkPage(options, afterId, Math.ceil(limit / 10));
    const lastId = await findNextAccountId(pool, afterId);
    logger.error(
      { err: error, account_id: lastId },
      'the ledger of an account is too long to compare with its balance',
    );
    return { mismatches: [], lastId };
  }
}

function logFields(mismatch: LedgerMismatch): object {
  return {
    account_id: mismatch.accountId,
    balance: mismatch.balance,
    sum: mismatch.sum,
    broken_entries: mismatch.brokenEntries,
    first_broken_id: mismatch.firstBrokenId,
  };
}

/** SQLSTATE query_canceled. */
function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}
