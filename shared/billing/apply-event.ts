import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { applySession, logApplied, paymentOf, settlePack } from './apply-session.ts';
import type { Applied } from './apply-session.ts';
import { findPayment, lockCharge, markUnpaid, recordPaymentEvent, storeDispute, storeRefund } from './payments.ts';
import type { DisputeOutcome, PaymentMode } from './payments.ts';
import { charge, checkoutSession, dispute } from './stripe-objects.ts';
import type { PaymentEvent } from './stripe-objects.ts';

export interface PaymentDeps {
  pool: Pool;
  metrics: Pick<Metrics, 'paymentEvents' | 'paymentsHealed' | 'paymentsVoided'>;
  logger: Logger;
}

type ApplyObject = (db: Queryable, object: unknown, mode: PaymentMode) => Promise<Applied>;

/** What each type of event does. To handle another one, add a row. */
const EFFECTS: ReadonlyMap<string, ApplyObject> = new Map<string, ApplyObject>([
  ['checkout.session.completed', applyCheckout],
  ['checkout.session.async_payment_succeeded', applyCheckout],
  ['checkout.session.async_payment_failed', (db, object) => applyEnd(db, object, 'failed')],
  ['checkout.session.expired', (db, object) => applyEnd(db, object, 'expired')],
  ['charge.refunded', applyRefund],
  ['charge.dispute.created', applyDispute],
  ['charge.dispute.updated', applyDispute],
  ['charge.dispute.funds_withdrawn', applyDispute],
  ['charge.dispute.closed', applyDispute],
]);

export const APPLIED_EVENTS: readonly string[] = [...EFFECTS.keys()];

/** A counter that begins at 1 has not increased: without these zeros the first fault would raise no alert. */
export function countPaymentsFromZero({ paymentEvents }: Pick<Metrics, 'paymentEvents'>): void {
  for (const type of [...APPLIED_EVENTS, 'other']) {
    for (const outcome of ['unknown', 'mismatched', 'unclaimed']) paymentEvents.inc({ type, outcome }, 0);
  }
}

/**
 * Applies an event of the payment provider in one transaction: its effect and the note that it was applied are
 * committed together. The event must be authentic. Any order of events, repeated or at the same moment in several
 * processes, ends with the same balances.
 *
 * @throws ZodError when the event has not the form of its type, or the database's error; nothing was applied then
 */
export async function applyEvent(deps: PaymentDeps, event: PaymentEvent, mode: PaymentMode): Promise<Applied> {
  const applied = await inTransaction(deps.pool, async (client): Promise<Applied> => {
    const apply = EFFECTS.get(event.type);
    if (apply === undefined) return { outcome: 'ignored' };
    if (event.livemode !== (mode === 'live')) return { outcome: 'mismatched' };
    if (!(await recordPaymentEvent(client, event.id))) return { outcome: 'repeated' };
    return apply(client, event.data.object, mode);
  });
  const type = EFFECTS.has(event.type) ? event.type : 'other';
  deps.metrics.paymentEvents.inc({ type, outcome: applied.outcome });
  logApplied(deps.logger, applied, { event_id: event.id, type: event.type });
  return applied;
}

function applyCheckout(db: Queryable, object: unknown, mode: PaymentMode): Promise<Applied> {
  return applySession(db, checkoutSession.parse(object), mode);
}

async function applyEnd(db: Queryable, object: unknown, status: 'expired' | 'failed'): Promise<Applied> {
  const payment = await paymentOf(db, checkoutSession.parse(object));
  if (payment === undefined) return { outcome: 'unknown' };
  await markUnpaid(db, payment.id, status);
  return { outcome: 'ended', paymentId: payment.id, accountId: payment.accountId };
}

async function applyRefund(db: Queryable, object: unknown): Promise<Applied> {
  const { payment_intent: paymentIntent, amount, amount_refunded: refunded } = charge.parse(object);
  if (paymentIntent === undefined) return { outcome: 'unknown' };
  return settle(db, await storeRefund(db, { paymentIntent, charged: amount, refunded }));
}

async function applyDispute(db: Queryable, object: unknown): Promise<Applied> {
  const { id, payment_intent: paymentIntent, status } = dispute.parse(object);
  if (paymentIntent === undefined) return { outcome: 'unknown' };
  // An inquiry: the bank asks, and no money has moved.
  if (status.startsWith('warning_')) return { outcome: 'unchanged' };
  const paymentId = await lockCharge(db, paymentIntent);
  await storeDispute(db, { id, paymentIntent, outcome: outcomeOf(status) });
  return settle(db, paymentId);
}

function outcomeOf(status: string): DisputeOutcome {
  return status === 'won' || status === 'lost' ? status : 'open';
}

async function settle(db: Queryable, paymentId: string | null): Promise<Applied> {
  const payment = paymentId === null ? undefined : await findPayment(db, paymentId);
  if (payment === undefined) return { outcome: 'remembered' };
  const { accountId } = payment;
  const change = await settlePack(db, payment);
  if (change === 0) return { outcome: 'unchanged', paymentId: payment.id, accountId };
  return {
    outcome: change > 0 ? 'taken_back' : 'returned',
    paymentId: payment.id,
    accountId,
    credits: -change,
  };
}
