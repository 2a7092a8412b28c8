import { backfillCredits, MATCHES_PER_RUN } from '../backfills/rules/backfill-numbering.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readOne, readRows, sql } from '../postgres/sql.ts';

export interface StoredLedgerEntry {
  id: number;
  createdAt: Date;
  kind: string;
  /** Credits; positive when given, negative when taken. */
  amount: number;
  balanceAfter: number;
  reference: string;
  /** The request that caused a charge; null where there was none, and in old entries. */
  requestId: string | null;
  route: string | null;
  /** null also for requests with an access token. */
  keyId: string | null;
}

const CREDITS_PER_RUN = backfillCredits(MATCHES_PER_RUN);

const ENTRIES = sql`
  SELECT id, created_at AS "createdAt", kind, amount, balance_after AS "balanceAfter", reference,
    request_id AS "requestId", route, key_id AS "keyId"
  FROM ledger_entries`;

/** Newest first. @param page.kinds default: all */
export async function readLedgerPage(
  db: Queryable,
  page: { accountId: string; beforeId: number; limit: number; kinds?: readonly string[] | undefined },
): Promise<StoredLedgerEntry[]> {
  return readRows<StoredLedgerEntry>(db)`
    ${ENTRIES}
    WHERE account_id = ${page.accountId} AND id < ${page.beforeId} AND (${page.kinds ?? null}::text[] IS NULL OR kind =
      ANY (${page.kinds ?? null}))
    ORDER BY id DESC
    LIMIT ${page.limit}`;
}

/**
 * As `readLedgerPage`, with one entry for each backfill: its first charge. A charge of a backfill has the credits that
 * the run has cost with it at the end of its reference.
 */
export async function readLedgerLines(
  db: Queryable,
  page: { accountId: string; beforeId: number; limit: number; kinds: readonly string[] | undefined },
): Promise<StoredLedgerEntry[]> {
  return readRows<StoredLedgerEntry>(db)`
    ${ENTRIES}
    WHERE account_id = ${page.accountId} AND id < ${page.beforeId} AND (${page.kinds ?? null}::text[] IS NULL OR kind =
      ANY (${page.kinds ?? null})) AND (kind <> 'backfill' OR reference !~ ':[0-9]+$' OR reference LIKE '%:' || -amount)
    ORDER BY id DESC
    LIMIT ${page.limit}`;
}

/** The charges of backfills, oldest first. It looks up every reference that a charge of theirs can have. */
export async function readBackfillCharges(
  db: Queryable,
  { accountId, runIds }: { accountId: string; runIds: readonly string[] },
): Promise<StoredLedgerEntry[]> {
  return readRows<StoredLedgerEntry>(db)`
    SELECT charges.*
    FROM unnest(${runIds}::text[]) AS run CROSS JOIN generate_series(1, ${CREDITS_PER_RUN}::integer) AS paid
      CROSS JOIN LATERAL (
        ${ENTRIES}
        WHERE account_id = ${accountId} AND kind = 'backfill' AND reference = run || ':' || paid
        LIMIT 1
      ) AS charges
    ORDER BY charges.id`;
}

export async function readLedgerForward(
  db: Queryable,
  page: { accountId: string; afterId: number; limit: number },
): Promise<StoredLedgerEntry[]> {
  return readRows<StoredLedgerEntry>(db)`
    ${ENTRIES}
    WHERE account_id = ${page.accountId} AND id > ${page.afterId}
    ORDER BY id
    LIMIT ${page.limit}`;
}

export type UsageGrouping = 'day' | 'route' | 'key';

export interface UsageRow {
  /** The UTC day (YYYY-MM-DD), the route or the key's id; null: charged without a request, or without a key. */
  name: string | null;
  /** How often credits were charged, and how many in all. */
  charges: number;
  credits: number;
}

/**
 * Sums an account's charges over UTC days, both ends included. Days come in their order, other groups with the most
 * credits first. It reads one row per day, route and key that the account used, however many charges there were.
 */
export async function readUsage(
  db: Queryable,
  asked: { accountId: string; by: UsageGrouping; from: string; to: string; limit: number },
): Promise<UsageRow[]> {
  return readRows<UsageRow>(db)`
    SELECT CASE ${asked.by} WHEN 'day' THEN day::text WHEN 'route' THEN nullif(route, '') ELSE nullif(key_id,
      '') END AS name,
      sum(charges)::bigint AS charges, sum(credits)::bigint AS credits
    FROM usage_days
    WHERE account_id = ${asked.accountId} AND day BETWEEN ${asked.from} AND ${asked.to}
    GROUP BY name
    ORDER BY CASE WHEN ${asked.by} = 'day' THEN 0 ELSE -sum(credits) END, name
    LIMIT ${asked.limit}`;
}

export interface DailyUsage {
  /** The UTC day (YYYY-MM-DD). */
  day: string;
  /** Empty: charged without a request. */
  route: string;
  credits: number;
}

/** Credits by UTC day and route, both ends included. It reads the rows that `readUsage` reads. */
export async function readDailyUsage(
  db: Queryable,
  asked: { accountId: string; from: string; to: string },
): Promise<DailyUsage[]> {
  return readRows<DailyUsage>(db)`
    SELECT day::text AS day, route, sum(credits)::bigint AS credits
    FROM usage_days
    WHERE account_id = ${asked.accountId} AND day BETWEEN ${asked.from} AND ${asked.to}
    GROUP BY usage_days.day, route`;
}

export async function readUsageTotal(
  db: Queryable,
  asked: { accountId: string; from: string; to: string },
): Promise<{ charges: number; credits: number }> {
  return readOne<{ charges: number; credits: number }>(db)`
    SELECT coalesce(sum(charges), 0)::bigint AS charges, coalesce(sum(credits), 0)::bigint AS credits
    FROM usage_days
    WHERE account_id = ${asked.accountId} AND day BETWEEN ${asked.from} AND ${asked.to}`;
}
