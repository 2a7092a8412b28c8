import type { Queryable } from '../../postgres/pool.ts';
import type { StoredPayment } from './payments.ts';

export type ExportedPayment = Omit<StoredPayment, 'accountId' | 'sessionId'> & { createdAt: Date; paidAt: Date | null };

/** Lists an account's payments, oldest first, at most `limit`. */
export async function listExportedPayments(
  db: Queryable,
  accountId: string,
  limit: number,
): Promise<ExportedPayment[]> {
  const { rows } = await db.query<ExportedPayment>(
    `SELECT id, pack, amount, currency, credits, mode, status, created_at AS "createdAt", paid_at AS "paidAt"
     FROM payments
     WHERE account_id = $1
     ORDER BY created_at, id
     LIMIT $2`,
    [accountId, limit],
  );
  return rows;
}
