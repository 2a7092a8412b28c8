import type { ReturnedMoney } from './rules/credits.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow } from '../postgres/sql.ts';

export type DisputeOutcome = 'open' | 'won' | 'lost';

/**
 * Links a payment intent with its payment, and locks it until the transaction ends. The first statement of every
 * transaction that concerns the money of a payment locks this row: of a purchase and a refund at the same moment, the
 * later one sees the earlier.
 */
export async function linkCharge(db: Queryable, paymentIntent: string, paymentId: string): Promise<void> {
  await execute(db)`
    INSERT INTO payment_charges (payment_intent, payment_id) VALUES (${paymentIntent}, ${paymentId})
    ON CONFLICT (payment_intent) DO UPDATE SET payment_id = excluded.payment_id`;
}

/**
 * Stores how much of a charge was refunded so far, and locks it. A lower sum than before arrived late and changes
 * nothing.
 *
 * @returns the payment; null while it is not known
 */
export async function storeRefund(
  db: Queryable,
  refund: { paymentIntent: string; charged: number; refunded: number },
): Promise<string | null> {
  const { paymentId } = await readOne<{ paymentId: string | null }>(db)`
    INSERT INTO payment_charges (payment_intent, charged, refunded) VALUES (${refund.paymentIntent}, ${refund.charged},
      ${refund.refunded})
    ON CONFLICT (payment_intent) DO UPDATE
      SET charged = excluded.charged, refunded = greatest(payment_charges.refunded, excluded.refunded)
    RETURNING payment_id AS "paymentId"`;
  return paymentId;
}

/** Locks a charge, which is added if it is not known. @returns the payment; null while it is not known */
export async function lockCharge(db: Queryable, paymentIntent: string): Promise<string | null> {
  const { paymentId } = await readOne<{ paymentId: string | null }>(db)`
    INSERT INTO payment_charges (payment_intent) VALUES (${paymentIntent})
    ON CONFLICT (payment_intent) DO UPDATE SET payment_intent = excluded.payment_intent
    RETURNING payment_id AS "paymentId"`;
  return paymentId;
}

/** An outcome that is final stays. Requires the charge's lock. */
export async function storeDispute(
  db: Queryable,
  dispute: { id: string; paymentIntent: string; outcome: DisputeOutcome },
): Promise<void> {
  await execute(db)`
    INSERT INTO payment_disputes (id, payment_intent, outcome) VALUES (${dispute.id}, ${dispute.paymentIntent},
      ${dispute.outcome})
    ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome WHERE payment_disputes.outcome = 'open'`;
}

/** Undefined when the payment intent is not known. Requires the charge's lock. */
export async function readReturnedMoney(db: Queryable, paymentId: string): Promise<ReturnedMoney | undefined> {
  return readRow<ReturnedMoney>(db)`
    SELECT charged, refunded,
      EXISTS (
        SELECT FROM payment_disputes d WHERE d.payment_intent = c.payment_intent AND d.outcome <> 'won'
      ) AS "isDisputed"
    FROM payment_charges c
    WHERE payment_id = ${paymentId}`;
}
