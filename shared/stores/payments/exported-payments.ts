import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';
import type { StoredPayment } from './payments.ts';

export type ExportedPayment = Omit<StoredPayment, 'accountId' | 'sessionId'> & { createdAt: Date; paidAt: Date | null };

/** Lists an account's payments, oldest first, at most `limit`. */
export async function listExportedPayments(
  db: Queryable,
  accountId: string,
  limit: number,
): Promise<ExportedPayment[]> {
  return readRows<ExportedPayment>(db)`
    SELECT id, pack, amount, currency, credits, mode, status, created_at AS "createdAt", paid_at AS "paidAt"
    FROM payments
    WHERE account_id = ${accountId}
    ORDER BY created_at, id
    LIMIT ${limit}`;
}
