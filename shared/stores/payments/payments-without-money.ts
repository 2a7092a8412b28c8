import type { Queryable } from '../../postgres/pool.ts';
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
  const { rows } = await db.query<PaymentWithoutMoney>(
    `SELECT id, account_id AS "accountId"
     FROM payments
     WHERE mode = ANY ($1) AND mode <> 'live' AND status IN ('started', 'paid')
     ORDER BY id
     LIMIT $2`,
    [modes, limit],
  );
  return rows;
}

/** Voids a payment. Requires the account's lock. @returns false when it was voided before */
export async function markVoided(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE payments SET status = 'voided' WHERE id = $1 AND mode <> 'live' AND status IN ('started', 'paid')`,
    [id],
  );
  return rowCount === 1;
}
