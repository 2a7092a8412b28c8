import type { Queryable } from '../../postgres/pool.ts';
import { isChanged, readRows } from '../../postgres/sql.ts';
import type { PaymentMode } from './payments.ts';

/** A payment of the simulator or of a test key that has not been voided. */
export interface PaymentWithoutMoney {
  id: string;
  accountId: string;
}

/** Lists payments of these modes that are started or paid; at most `limit`. */
export async function listPaymentsWithoutMoney(
  db: Queryable,
  modes: readonly Exclude<PaymentMode, 'live'>[],
  limit: number,
): Promise<PaymentWithoutMoney[]> {
  return readRows<PaymentWithoutMoney>(db)`
    SELECT id, account_id AS "accountId"
    FROM payments
    WHERE mode = ANY (${modes}) AND mode <> 'live' AND status IN ('started', 'paid')
    ORDER BY id
    LIMIT ${limit}`;
}

/** Voids a payment. Requires the account's lock. @returns false when it was voided before */
export async function markVoided(db: Queryable, id: string): Promise<boolean> {
  return isChanged(db)`
    UPDATE payments SET status = 'voided' WHERE id = ${id} AND mode <> 'live' AND status IN ('started', 'paid')`;
}
