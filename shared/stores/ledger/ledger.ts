import type { Queryable } from '../../postgres/pool.ts';
import { COMMIT_WITHIN_MS } from '../../postgres/server-time.ts';
import type { ServerMoment } from '../../postgres/server-time.ts';

export type ChargeKind = 'monitor_create' | 'monitor_resume' | 'monitor_renewal' | 'backfill' | 'read' | 'sql';
export type CreditKind = 'grant' | 'pack';

/** The request that caused a charge. */
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
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH charged AS (
       UPDATE accounts SET balance = balance - $3
       WHERE id = $1 AND balance >= $3 AND status = 'active'
       RETURNING id, balance
     )
     INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, request_id, route, key_id)
     SELECT id, $2, -$3::bigint, balance, $4, $5, $6, $7 FROM charged
     RETURNING balance_after`,
    [move.accountId, move.kind, move.credits, move.reference, ...requestColumns(move)],
  );
  return rows[0]?.balance_after;
}

function requestColumns({ request }: LedgerMove<string>): (string | null)[] {
  return [request?.requestId ?? null, request?.route ?? null, request?.keyId ?? null];
}

// Accounts are locked in the order of their ids. Postgres reads an account that changed since the statement began
// again after locking it. Between the look at the clock and the commit nothing is waited for but the disk. The limit is
// set to 0 first: one that already runs would stay in force. Subqueries read the arrays, so that one plan serves all.
const CHARGE_TOGETHER = `
  WITH asked AS (
    SELECT *
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]))
      WITH ORDINALITY AS asked (account_id, kind, credits, reference, request_id, route, key_id, number)
  ), due AS (
    SELECT account_id, sum(credits)::bigint AS credits FROM asked GROUP BY account_id
  ), in_time AS MATERIALIZED (
    SELECT CASE WHEN $8::bigint IS NOT NULL
      THEN set_config('transaction_timeout', '0', true) || set_config('transaction_timeout', $10::text, true) END AS limits
    WHERE $8::bigint IS NULL
      OR (extract(epoch FROM clock_timestamp()) * 1000 < $8::bigint
        AND (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint = $9::bigint)
  ), locked AS MATERIALIZED (
    SELECT id FROM accounts
    WHERE id IN (SELECT account_id FROM due) AND status = 'active' AND EXISTS (SELECT FROM in_time)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ), charged AS (
    UPDATE accounts SET balance = accounts.balance - due.credits
    FROM due JOIN locked ON locked.id = due.account_id
    WHERE accounts.id = due.account_id AND accounts.balance >= due.credits
    RETURNING accounts.id, accounts.balance
  )
  INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, request_id, route, key_id, created_at)
  SELECT asked.account_id, asked.kind, -asked.credits,
    charged.balance + coalesce(sum(asked.credits) OVER (
      PARTITION BY asked.account_id ORDER BY asked.number ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0),
    asked.reference, asked.request_id, asked.route, asked.key_id, (SELECT service_now())
  FROM asked JOIN charged ON charged.id = asked.account_id
  ORDER BY asked.number
  RETURNING account_id AS "accountId", kind, reference, balance_after AS "balanceAfter"`;

/**
 * Charges many moves in one statement that never waits for another transaction. Accounts that others have locked, and
 * accounts whose balance does not cover all of their moves here, stay unchanged.
 *
 * @param before nothing is charged when the server is another one, or its clock has passed this; what is charged is
 * committed within COMMIT_WITHIN_MS or never. For a statement that is a transaction of its own, from PostgreSQL 17 on.
 * Default: no condition
 * @returns for each move, in order, the balance afterwards, as if the moves were charged one by one; undefined when it
 * was not charged: call `charge` to find out whether it can be
 * @throws a unique violation when one of them was charged before; none of them is charged then
 */
export async function chargeTogether(
  db: Queryable,
  moves: readonly LedgerMove<ChargeKind>[],
  before?: ServerMoment,
): Promise<(number | undefined)[]> {
  const { rows } = await db.query<{ reference: string; kind: string; accountId: string; balanceAfter: number }>({
    name: 'charge-together',
    text: CHARGE_TOGETHER,
    values: [
      moves.map(({ accountId }) => accountId),
      moves.map(({ kind }) => kind),
      moves.map(({ credits }) => credits),
      moves.map(({ reference }) => reference),
      moves.map(({ request }) => request?.requestId ?? null),
      moves.map(({ request }) => request?.route ?? null),
      moves.map(({ request }) => request?.keyId ?? null),
      before?.ms ?? null,
      before?.server ?? null,
      String(COMMIT_WITHIN_MS),
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
  const { rows } = await db.query<{ balance_after: number }>(
    `WITH locked AS MATERIALIZED (
       SELECT id, least(owed, $3::bigint) AS paid FROM accounts WHERE id = $1 FOR UPDATE
     ), credited AS (
       UPDATE accounts SET balance = balance + $3 - paid, owed = owed - paid
       FROM locked
       WHERE accounts.id = locked.id
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
  if (balance === undefined) throw new Error(`cannot credit account ${move.accountId}: it does not exist`);
  return balance;
}
