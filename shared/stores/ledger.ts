import type { Queryable } from '../postgres/pool.ts';

export type ChargeKind = 'monitor_create' | 'monitor_resume' | 'monitor_renewal' | 'read';
export type CreditKind = 'grant' | 'pack' | 'refund';

export interface LedgerMove<K extends string> {
  accountId: string;
  kind: K;
  /** Credits, above 0. */
  credits: number;
  /** What is paid for, or why it is given: an account's second move of this kind and reference is refused by the database. */
  reference: string;
}

/**
 * Takes credits, all or nothing: the balance and its ledger row change in one statement.
 *
 * @returns the balance afterwards; undefined when it does not cover the charge (then nothing changed)
 * @throws a unique violation when this was charged before; the transaction must then be rolled back
 */
export async function charge(db: Queryable, move: LedgerMove<ChargeKind>): Promise<number | undefined> {
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH charged AS (
       UPDATE accounts SET balance = balance - $3
       WHERE id = $1 AND balance >= $3
       RETURNING id, balance
     )
     INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     SELECT id, $2, -$3::bigint, balance, $4 FROM charged
     RETURNING balance_after`,
    [move.accountId, move.kind, move.credits, move.reference],
  );
  return rows[0]?.balance_after;
}

/**
 * Gives credits: the balance and its ledger row change in one statement.
 *
 * @returns the balance afterwards
 * @throws a unique violation when this was given before, or an error when there is no such account
 */
export async function credit(db: Queryable, move: LedgerMove<CreditKind>): Promise<number> {
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH credited AS (
       UPDATE accounts SET balance = balance + $3
       WHERE id = $1
       RETURNING id, balance
     )
     INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     SELECT id, $2, $3::bigint, balance, $4 FROM credited
     RETURNING balance_after`,
    [move.accountId, move.kind, move.credits, move.reference],
  );
  const balance = rows[0]?.balance_after;
  if (balance === undefined) throw new Error(`there is no account ${move.accountId} to credit`);
  return balance;
}
