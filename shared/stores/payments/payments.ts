import type { Queryable } from '../../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../../postgres/sql.ts';

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

/** Of these sessions, those whose payment is known as paid. */
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

/** Marks a payment that has not been paid as ended. */
export async function markUnpaid(db: Queryable, id: string, status: 'expired' | 'failed'): Promise<void> {
  await execute(db)`UPDATE payments SET status = ${status} WHERE id = ${id} AND status = 'started'`;
}
