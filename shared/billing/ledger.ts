import { commitLocally } from '../postgres/pool.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRow, readRows } from '../postgres/sql.ts';

export type ChargeKind = 'monitor_create' | 'monitor_resume' | 'monitor_renewal' | 'backfill' | 'read' | 'sql';
export type CreditKind = 'grant' | 'pack' | 'reversal';

/** The request that caused a charge, or whose charge is reversed. */
export interface ChargedRequest {
  /** As in X-Request-Id. */
  requestId: string;
  /** Method and path of the API, with `{id}`. */
  route: string;
  /** undefined: it came with an access token. */
  keyId: string | undefined;
}

export interface LedgerMove<K extends string> {
  accountId: string;
  kind: K;
  /** Credits, above 0. */
  credits: number;
  /**
   * What is paid for, or why credits are given. The database refuses a second move of an account with the same kind and
   * reference.
   */
  reference: string;
  /** undefined: nobody asked for it just now, as for a renewal. */
  request?: ChargedRequest | undefined;
}

/**
 * Charges credits, all or nothing. One statement changes the balance and adds its ledger row.
 *
 * @returns the balance afterwards; undefined when it does not cover the charge or the account is not active (nothing
 * changes then)
 * @throws a unique violation when this was charged before; the transaction must then be rolled back
 */
export async function charge(db: Queryable, move: LedgerMove<ChargeKind>): Promise<number | undefined> {
  const { request } = move;
  const row = await readRow<{ balance_after: number }>(db)`
    WITH charged AS (
      UPDATE accounts SET balance = balance - ${move.credits}
      WHERE id = ${move.accountId} AND balance >= ${move.credits} AND status = 'active'
      RETURNING id, balance
    )
    INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, request_id, route, key_id)
    SELECT id, ${move.kind}, -${move.credits}::bigint, balance, ${move.reference}, ${request?.requestId},
      ${request?.route}, ${request?.keyId}
    FROM charged
    RETURNING balance_after`;
  return row?.balance_after;
}

/**
 * Charges for an answer, alone in its transaction: the commit waits for no standby. A fail-over may lose the
 * last charges, in the customer's favour.
 */
export async function chargeLocally(db: Queryable, move: LedgerMove<ChargeKind>): Promise<number | undefined> {
  await commitLocally(db);
  return charge(db, move);
}

/**
 * Charges many moves in one statement that never waits for another transaction. Accounts that others have locked, and
 * accounts whose balance does not cover all of their moves here, stay unchanged.
 *
 * Its commit waits for no standby, as that of `chargeLocally`.
 *
 * @returns for each move, in order, the balance afterwards, as if the moves were charged one by one; undefined when it
 * was not charged: call `charge` to find out whether it can be
 * @throws a unique violation when one of them was charged before; none of them is charged then
 */
export async function chargeTogether(
  db: Queryable,
  moves: readonly LedgerMove<ChargeKind>[],
): Promise<(number | undefined)[]> {
  const { rows } = await db.query<{ reference: string; kind: string; accountId: string; balanceAfter: number }>({
    name: 'charge-together',
    // Accounts are locked in the order of their ids. Postgres reads an account that changed since the statement began
    // again after locking it.
    text: `WITH local_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'local', true)), asked AS (
             SELECT *
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
               WITH ORDINALITY AS asked (account_id, kind, credits, reference, request_id, route, key_id, number)
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
           INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, request_id, route, key_id)
           SELECT asked.account_id, asked.kind, -asked.credits,
             charged.balance + coalesce(sum(asked.credits) OVER (
               PARTITION BY asked.account_id ORDER BY asked.number ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
             ), 0),
             asked.reference, asked.request_id, asked.route, asked.key_id
           FROM asked JOIN charged ON charged.id = asked.account_id CROSS JOIN local_commit
           ORDER BY asked.number
           RETURNING account_id AS "accountId", kind, reference, balance_after AS "balanceAfter"`,
    values: [
      moves.map(({ accountId }) => accountId),
      moves.map(({ kind }) => kind),
      moves.map(({ credits }) => credits),
      moves.map(({ reference }) => reference),
      moves.map(({ request }) => request?.requestId ?? null),
      moves.map(({ request }) => request?.route ?? null),
      moves.map(({ request }) => request?.keyId ?? null),
    ],
  });
  const balances = new Map(rows.map((row) => [`${row.accountId} ${row.kind} ${row.reference}`, row.balanceAfter]));
  return moves.map(({ accountId, kind, reference }) => balances.get(`${accountId} ${kind} ${reference}`));
}

/**
 * Adds credits. One statement changes the balance and adds its ledger row. Credits that the account owes are taken
 * from them at once, in a separate ledger row.
 *
 * @returns the balance afterwards
 * @throws a unique violation when these credits were given before; an Error when the account does not exist
 */
export async function credit(db: Queryable, move: LedgerMove<CreditKind>): Promise<number> {
  const { request } = move;
  const rows = await readRows<{ balance_after: number }>(db)`
    WITH locked AS MATERIALIZED (
      SELECT id, least(owed, ${move.credits}::bigint) AS paid FROM accounts WHERE id = ${move.accountId} FOR UPDATE
    ), credited AS (
      UPDATE accounts SET balance = balance + ${move.credits} - paid, owed = owed - paid
      FROM locked
      WHERE accounts.id = locked.id
      RETURNING accounts.id, balance, paid
    )
    INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, request_id, route, key_id)
    SELECT id, ${move.kind}, ${move.credits}::bigint, balance + paid, ${move.reference}, ${request?.requestId},
      ${request?.route}, ${request?.keyId}
    FROM credited
    UNION ALL
    SELECT id, 'refund', -paid, balance, 'owed:' || ${move.kind} || ':' || ${move.reference}, NULL, NULL, NULL
    FROM credited WHERE paid > 0
    RETURNING balance_after`;
  const balance = rows.at(-1)?.balance_after;
  if (balance === undefined) throw new Error(`cannot credit account ${move.accountId}: it does not exist`);
  return balance;
}
