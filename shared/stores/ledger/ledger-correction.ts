import type { Queryable } from '../../postgres/pool.ts';
import { execute } from '../../postgres/sql.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { agrees, compareLedger } from './ledger-check.ts';
import type { ComparedLedger } from './ledger-check.ts';

/** What is right where a balance and its ledger differ. */
export type TrustedRecord = 'ledger' | 'balance';

export interface LedgerCorrection {
  accountId: string;
  /** Why. A second correction of the account with this reference changes nothing. */
  reference: string;
  trusted: TrustedRecord;
}

/** `compared` is the account as it was before, under its lock. */
export type CorrectedLedger =
  | { outcome: 'corrected'; compared: ComparedLedger; amount: number; balance: number }
  /** There was nothing to correct. */
  | { outcome: 'agrees'; compared: ComparedLedger }
  /** The reference was used before. */
  | { outcome: 'repeated'; compared: ComparedLedger }
  /** The sum of the ledger is below 0, which no balance can be. */
  | { outcome: 'negative'; compared: ComparedLedger };

/**
 * Makes an account's balance and its ledger agree, by one entry of kind `correction`, whose balance_after is both the
 * balance and the sum of all entries. With the ledger trusted the balance changes and the entry's amount is 0; with the
 * balance trusted the entry adds what the ledger lacks or takes what it has too much. Call it in a transaction.
 *
 * Locks the account first, as every charge does, and compares in a later statement: what was charged meanwhile is in
 * the balance and in the sum.
 *
 * @returns undefined when the account does not exist. Nothing changes unless the outcome is `corrected`
 */
export async function correctLedger(db: Queryable, correction: LedgerCorrection): Promise<CorrectedLedger | undefined> {
  const { accountId, reference, trusted } = correction;
  if ((await lockAccount(db, accountId)) === undefined) return undefined;
  const compared = (await compareLedger(db, accountId))!;
  const { rowCount } = await db.query(
    `SELECT FROM ledger_entries WHERE account_id = $1 AND kind = 'correction' AND reference = $2`,
    [accountId, reference],
  );
  if (rowCount === 1) return { outcome: 'repeated', compared };
  if (agrees(compared)) return { outcome: 'agrees', compared };
  const balance = trusted === 'ledger' ? compared.sum : compared.balance;
  if (balance < 0) return { outcome: 'negative', compared };
  const amount = balance - compared.sum;
  // One statement sets the balance and adds its ledger row.
  await execute(db)`
    WITH corrected AS (
      UPDATE accounts SET balance = ${balance} WHERE id = ${accountId}
      RETURNING id, balance
    )
    INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
    SELECT id, 'correction', ${amount}::bigint, balance, ${reference} FROM corrected`;
  return { outcome: 'corrected', compared, amount, balance };
}
