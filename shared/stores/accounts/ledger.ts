import type { Queryable } from '../../postgres/pool.ts';

export type ChargeKind = 'monitor_create' | 'monitor_resume' | 'monitor_renewal' | 'read';
export type CreditKind = 'grant' | 'pack';

export interface LedgerMove<K extends string> {
  accountId: string;
  kind: K;
  /** Credits, above 0. */
  credits: number;
  /**
   * What is paid for, or why it is given: an account's second move of this kind and reference is refused by the
   * database.
   */
  reference: string;
}

/**
 * Takes credits, all or nothing: the balance and its ledger row change in one statement.
 *
 * @returns the balance afterwards; undefined when it does not cover the charge, or the account is not active (then
 * nothing changed)
 * @throws a unique violation when this was charged before; the transaction must then be rolled back
 */
export async function charge(db: Queryable, move: LedgerMove<ChargeKind>): Promise<number | undefined> {
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH charged AS (
       UPDATE accounts SET balance = balance - $3
       WHERE id = $1 AND balance >= $3 AND status = 'active'
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
 * Takes credits for many moves in one statement that never waits for another transaction: accounts that are locked by
 * others, and those whose balance does not cover all of their moves here, are left as they are.
 *
 * @returns for each move, in their order, the balance afterwards, as if they had come one after the other; undefined
 * when it was not charged: `charge` then says whether it can be
 * @throws a unique violation when one of them was charged before; none of them is then
 */
export async function chargeTogether(
  db: Queryable,
  moves: readonly LedgerMove<ChargeKind>[],
): Promise<(number | undefined)[]> {
  const { rows } = await db.query<{ reference: string; kind: string; accountId: string; balanceAfter: number }>({
    name: 'charge-together',
    // The order of the locks is that of the ids. An account that was changed since the statement began is read anew
    // once it is locked.
    text: `WITH asked AS (
             SELECT *
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])
               WITH ORDINALITY AS asked (account_id, kind, credits, reference, number)
           ), due AS (
             SELECT account_id, sum(credits)::bigint AS credits FROM asked GROUP BY account_id
           ), locked AS MATERIALIZED (
             SELECT id FROM accounts
             WHERE id = ANY ($1) AND status = 'active'
             ORDER BY id FOR UPDATE SKIP LOCKED
           ), charged AS (
             UPDATE accounts SET balance = accounts.balance - due.credits
             FROM due JOIN locked ON locked.id = due.account_id
             WHERE accounts.id = due.account_id AND accounts.balance >= due.credits
             RETURNING accounts.id, accounts.balance
           )
           INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
           SELECT asked.account_id, asked.kind, -asked.credits,
             charged.balance + coalesce(sum(asked.credits) OVER (
               PARTITION BY asked.account_id ORDER BY asked.number ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
             ), 0),
             asked.reference
           FROM asked JOIN charged ON charged.id = asked.account_id
           ORDER BY asked.number
           RETURNING account_id AS "accountId", kind, reference, balance_after AS "balanceAfter"`,
    values: [
      moves.map(({ accountId }) => accountId),
      moves.map(({ kind }) => kind),
      moves.map(({ credits }) => credits),
      moves.map(({ reference }) => reference),
    ],
  });
  const balances = new Map(rows.map((row) => [`${row.accountId} ${row.kind} ${row.reference}`, row.balanceAfter]));
  return moves.map(({ accountId, kind, reference }) => balances.get(`${accountId} ${kind} ${reference}`));
}

/**
 * Gives credits: the balance and its ledger row change in one statement. What the account owes is paid from them at
 * once, in a row of its own.
 *
 * @returns the balance afterwards
 * @throws a unique violation when this was given before, or an error when there is no such account
 */
export async function credit(db: Queryable, move: LedgerMove<CreditKind>): Promise<number> {
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH held AS MATERIALIZED (
       SELECT id, least(owed, $3::bigint) AS paid FROM accounts WHERE id = $1 FOR UPDATE
     ), credited AS (
       UPDATE accounts SET balance = balance + $3 - paid, owed = owed - paid
       FROM held
       WHERE accounts.id = held.id
       RETURNING accounts.id, balance, paid
     )
     INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     SELECT id, $2, $3::bigint, balance + paid, $4 FROM credited
     UNION ALL
     SELECT id, 'refund', -paid, balance, 'owed:' || $2 || ':' || $4 FROM credited WHERE paid > 0
     RETURNING balance_after`,
    [move.accountId, move.kind, move.credits, move.reference],
  );
  const balance = rows.at(-1)?.balance_after;
  if (balance === undefined) throw new Error(`there is no account ${move.accountId} to credit`);
  return balance;
}
