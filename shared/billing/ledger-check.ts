import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRow, readRows } from '../postgres/sql.ts';
import { sqlState } from '../postgres/postgres-unavailable.ts';
import { lockAccount } from '../accounts/accounts.ts';

export interface ComparedLedger {
  accountId: string;
  balance: number;
  /** Sum of the amounts of all its entries. */
  sum: number;
  /** Entries, from the last correction on, whose balance_after does not follow from the entries before. */
  brokenEntries: number;
  /** The first of them; null when there are none. */
  firstBrokenId: number | null;
}

/** A page of accounts, or the one whose ledger alone takes too long to read. */
interface CheckedAccounts {
  mismatches: ComparedLedger[];
  /** The last account that was checked; the next page begins after it. undefined when there are no more. */
  lastId: string | undefined;
  /** The error of that one account, which is skipped. */
  tooLong?: unknown;
}

const ACCOUNTS_PER_PAGE = 100;
const QUERY_CANCELED = '57014';

/** Whether the balance is what the ledger says, by its sum and by its last entry. */
export function agrees({ balance, sum, brokenEntries }: ComparedLedger): boolean {
  return balance === sum && brokenEntries === 0;
}

/** Compares all accounts with their ledgers, page by page. */
export async function* checkLedgers(db: Queryable): AsyncGenerator<CheckedAccounts, void> {
  for (let afterId: string | undefined = ''; afterId !== undefined;) {
    const page: CheckedAccounts = await checkPage(db, afterId, ACCOUNTS_PER_PAGE);
    yield page;
    afterId = page.lastId;
  }
}

/**
 * A page that exceeds the statement timeout is repeated with fewer accounts, down to one. An account that still exceeds
 * it is skipped.
 */
async function checkPage(db: Queryable, afterId: string, limit: number): Promise<CheckedAccounts> {
  try {
    return await findLedgerMismatches(db, afterId, limit);
  } catch (error) {
    if (sqlState(error) !== QUERY_CANCELED) throw error;
    if (limit > 1) return checkPage(db, afterId, Math.ceil(limit / 10));
    const next = await readRow<{ id: string }>(db)`SELECT id FROM accounts WHERE id > ${afterId} ORDER BY id LIMIT 1`;
    return { mismatches: [], lastId: next?.id, tooLong: error };
  }
}

export async function findLedgerMismatches(db: Queryable, afterId: string, limit: number): Promise<CheckedAccounts> {
  const compared = await compareLedgers(db, { afterId, limit });
  return { mismatches: compared.filter((one) => !agrees(one)), lastId: compared.at(-1)?.accountId };
}

/** undefined when it does not exist. */
export async function compareLedger(db: Queryable, accountId: string): Promise<ComparedLedger | undefined> {
  return (await compareLedgers(db, { afterId: '', limit: 1, accountId }))[0];
}

/**
 * Each balance_after must be the previous one plus the amount, and the balance must be the sum of the entries. A
 * correction begins again: its balance_after must be the sum of all entries up to it, and what was wrong before it does
 * not count any more. One statement reads one snapshot, so a concurrent charge is in both or in neither. It reads every
 * entry of the accounts.
 */
async function compareLedgers(
  db: Queryable,
  which: { afterId: string; limit: number; accountId?: string },
): Promise<ComparedLedger[]> {
  return readRows<ComparedLedger>(db)`
    WITH page AS (
      SELECT id, balance FROM accounts WHERE id > ${which.afterId} AND (${which.accountId ?? null}::text IS NULL OR id
        = ${which.accountId ?? null}) ORDER BY id LIMIT ${which.limit}
    ), entries AS (
      SELECT e.account_id, e.id, e.amount,
        -- How many corrections there were up to this entry: entries since the last one have the highest number.
        count(*) FILTER (WHERE e.kind = 'correction') OVER in_order AS part,
        e.balance_after <> CASE
          WHEN e.kind = 'correction' THEN sum(e.amount) OVER in_order
          ELSE lag(e.balance_after, 1, 0::bigint) OVER in_order + e.amount
        END AS is_broken
      FROM page
      JOIN ledger_entries e ON e.account_id = page.id
      WINDOW in_order AS (PARTITION BY e.account_id ORDER BY e.id ROWS UNBOUNDED PRECEDING)
    ), parts AS (
      SELECT account_id, part, sum(amount) AS amount,
        count(*) FILTER (WHERE is_broken) AS broken,
        min(id) FILTER (WHERE is_broken) AS first_broken
      FROM entries
      GROUP BY account_id, part
    )
    SELECT page.id AS "accountId", page.balance,
      coalesce(sum(parts.amount), 0)::bigint AS sum,
      coalesce((array_agg(parts.broken ORDER BY parts.part DESC))[1], 0) AS "brokenEntries",
      (array_agg(parts.first_broken ORDER BY parts.part DESC))[1] AS "firstBrokenId"
    FROM page
    LEFT JOIN parts ON parts.account_id = page.id
    GROUP BY page.id, page.balance
    ORDER BY page.id`;
}

/** Seconds until the next UTC day begins, by service_now(). */
export async function secondsUntilTomorrow(db: Queryable): Promise<number> {
  const { seconds } = await readOne<{ seconds: number }>(db)`
    SELECT extract(epoch FROM date_trunc('day', now, 'UTC') + interval '24 hours' - now)::float8 AS seconds
    FROM service_now() AS now`;
  return seconds;
}

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
  const isRepeated = await isChanged(db)`
    SELECT FROM ledger_entries WHERE account_id = ${accountId} AND kind = 'correction' AND reference = ${reference}`;
  if (isRepeated) return { outcome: 'repeated', compared };
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
