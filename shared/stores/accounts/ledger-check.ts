import type { Queryable } from '../../postgres/pool.ts';

/** An account whose balance differs from its ledger. */
export interface LedgerMismatch {
  accountId: string;
  balance: number;
  /** Sum of the amounts of all its entries. */
  sum: number;
  /** Entries whose balance_after is not the previous balance_after plus their amount. */
  brokenEntries: number;
  /** The first of them; null when there are none. */
  firstBrokenId: number | null;
}

export interface LedgerPage {
  mismatches: LedgerMismatch[];
  /** The last account that was checked; the next page begins after it. undefined when there are no more. */
  lastId: string | undefined;
}

/**
 * Compares up to `limit` accounts after `afterId` ('' for the first page) with their ledgers: each balance_after must
 * be the previous one plus the amount, and the balance must be the sum of the entries. One statement reads one
 * snapshot, so a concurrent charge is in both or in neither. It reads every entry of the accounts.
 */
export async function findLedgerMismatches(db: Queryable, afterId: string, limit: number): Promise<LedgerPage> {
  const { rows } = await db.query<LedgerMismatch>(
    `WITH page AS (
       SELECT id, balance FROM accounts WHERE id > $1 ORDER BY id LIMIT $2
     ), entries AS (
       SELECT e.account_id, e.id, e.amount,
         lag(e.balance_after, 1, 0::bigint) OVER (PARTITION BY e.account_id ORDER BY e.id) + e.amount <> e.balance_after AS is_broken
       FROM page
       JOIN ledger_entries e ON e.account_id = page.id
     )
     SELECT page.id AS "accountId", page.balance,
       coalesce(sum(entries.amount), 0)::bigint AS sum,
       count(*) FILTER (WHERE entries.is_broken) AS "brokenEntries",
       min(entries.id) FILTER (WHERE entries.is_broken) AS "firstBrokenId"
     FROM page
     LEFT JOIN entries ON entries.account_id = page.id
     GROUP BY page.id, page.balance
     ORDER BY page.id`,
    [afterId, limit],
  );
  return {
    mismatches: rows.filter(({ balance, sum, brokenEntries }) => balance !== sum || brokenEntries > 0),
    lastId: rows.at(-1)?.accountId,
  };
}

/** Seconds until the next UTC day begins, by service_now(). */
export async function secondsUntilTomorrow(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>(
    `SELECT extract(epoch FROM date_trunc('day', now, 'UTC') + interval '24 hours' - now)::float8 AS seconds
     FROM service_now() AS now`,
  );
  return rows[0]!.seconds;
}

/** Finds the next account id after `afterId`; undefined when there is none. */
export async function findNextAccountId(db: Queryable, afterId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT 1', [
    afterId,
  ]);
  return rows[0]?.id;
}
