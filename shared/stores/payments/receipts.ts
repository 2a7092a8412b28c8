import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';
import type { StoredPayment } from './payments.ts';

/** What a customer sees of a payment. */
export interface Receipt extends Pick<StoredPayment, 'id' | 'pack' | 'amount' | 'currency' | 'credits' | 'mode'> {
  status: 'paid' | 'unclaimed' | 'voided';
  paidAt: Date;
  /** Credits that were taken back after refunds or disputes. */
  takenBack: number;
}

/** The payments of an account that were made, newest first; at most `limit`. */
export async function listReceipts(db: Queryable, accountId: string, limit: number): Promise<Receipt[]> {
  return readRows<Receipt>(db)`
    SELECT p.id, p.pack, p.amount, p.currency, p.credits, p.mode, p.status, p.paid_at AS "paidAt",
      coalesce(b.taken_back, 0)::bigint AS "takenBack"
    FROM payments p
    LEFT JOIN packs_bought b ON b.id = p.id
    WHERE p.account_id = ${accountId} AND p.paid_at IS NOT NULL
    ORDER BY p.created_at DESC, p.id
    LIMIT ${limit}`;
}
