import type { Queryable } from '../postgres/pool.ts';
import { readRows, sql } from '../postgres/sql.ts';

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
