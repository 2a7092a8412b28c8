import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRow, readRows } from '../postgres/sql.ts';
import type { ReturnedMoney } from './rules/plans.ts';

export type PaymentMode = 'trial' | 'test' | 'live';
export type PaymentStatus = 'started' | 'paid' | 'expired' | 'failed' | 'unclaimed' | 'voided';

export interface StoredPayment {
  id: string;
  accountId: string;
  /** Price in dollars. */
  pack: number;
  /** In the currency's smallest unit, before tax. */
  amount: number;
  /** ISO 4217 in lower case. */
  currency: string;
  credits: number;
  mode: PaymentMode;
  status: PaymentStatus;
  sessionId: string | null;
}

export type NewPayment = Omit<StoredPayment, 'status' | 'sessionId'>;

/** Adds a payment that has started. Commit it before its checkout session is created. */
export async function insertPayment(db: Queryable, payment: NewPayment): Promise<void> {
  const { id, accountId, pack, amount, currency, credits, mode } = payment;
  await execute(db)`
    INSERT INTO payments (id, account_id, pack, amount, currency, credits, mode) VALUES (${id}, ${accountId}, ${pack},
      ${amount}, ${currency}, ${credits}, ${mode})`;
}

export async function findPayment(db: Queryable, id: string): Promise<StoredPayment | undefined> {
  return readRow<StoredPayment>(db)`
    SELECT id, account_id AS "accountId", pack, amount, currency, credits, mode, status, session_id AS "sessionId"
    FROM payments
    WHERE id = ${id}`;
}

/** The sessions whose payment is known as paid. */
export async function findPaidSessions(db: Queryable, sessionIds: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ id: string }>(db)`
    SELECT session_id AS id FROM payments WHERE session_id = ANY (${sessionIds}) AND paid_at IS NOT NULL`;
  return new Set(rows.map(({ id }) => id));
}

/** Stores the session of a payment that has none yet. @throws a unique violation when another payment has it */
export async function storePaymentSession(db: Queryable, id: string, sessionId: string): Promise<void> {
  await execute(db)`UPDATE payments SET session_id = ${sessionId} WHERE id = ${id} AND session_id IS NULL`;
}

/**
 * Marks a payment as paid, or as unclaimed when its account no longer exists. Requires the account's lock.
 *
 * @returns false when it was paid before, or voided; nothing changes then
 */
export async function markPaid(
  db: Queryable,
  id: string,
  paid: { status: 'paid' | 'unclaimed'; sessionId: string },
): Promise<boolean> {
  return isChanged(db)`
    UPDATE payments SET status = ${paid.status}, session_id = coalesce(session_id, ${paid.sessionId}),
      paid_at = service_now()
    WHERE id = ${id} AND status IN ('started', 'expired', 'failed')`;
}

export async function markUnpaid(db: Queryable, id: string, status: 'expired' | 'failed'): Promise<void> {
  await execute(db)`UPDATE payments SET status = ${status} WHERE id = ${id} AND status = 'started'`;
}

/** A payment of the simulator or of a test key that has not been voided. */
export type PaymentWithoutMoney = Pick<StoredPayment, 'id' | 'accountId'>;

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

export interface Receipt extends Pick<StoredPayment, 'id' | 'pack' | 'amount' | 'currency' | 'credits' | 'mode'> {
  status: 'paid' | 'unclaimed' | 'voided';
  paidAt: Date;
  /** Credits that were taken back after refunds or disputes. */
  takenBack: number;
}

/** The payments that were made, newest first. */
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

export type ExportedPayment = Omit<StoredPayment, 'accountId' | 'sessionId'> & { createdAt: Date; paidAt: Date | null };

/** Oldest first. */
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

/** Waits for a concurrent transaction with the same event. Returns false when its effect was committed before. */
export async function recordPaymentEvent(db: Queryable, id: string): Promise<boolean> {
  return isChanged(db)`INSERT INTO payment_events (id) VALUES (${id}) ON CONFLICT (id) DO NOTHING`;
}

/** The events whose effect is committed. */
export async function findAppliedEvents(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ id: string }>(db)`SELECT id FROM payment_events WHERE id = ANY (${ids})`;
  return new Set(rows.map(({ id }) => id));
}

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
