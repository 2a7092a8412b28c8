import { lockAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { givePack, setCreditsTakenBack } from './packs.ts';
import {
  findPayment,
  linkCharge,
  lockCharge,
  markPaid,
  markUnpaid,
  readReturnedMoney,
  recordPaymentEvent,
  storeDispute,
  storePaymentSession,
  storeRefund,
} from './payments.ts';
import type { DisputeOutcome, PaymentMode, StoredPayment } from './payments.ts';
import { creditsToTakeBack } from './rules/plans.ts';
import { charge, checkoutSession, dispute } from './stripe.ts';
import type { CheckoutSession, PaymentEvent } from './stripe.ts';

export interface PaymentDeps {
  pool: Pool;
  metrics: Pick<Metrics, 'paymentEvents' | 'paymentsHealed' | 'paymentsVoided'>;
  logger: Logger;
}

/** What applying something did. */
export interface Applied {
  /**
   * - credited: the pack was given. already_credited: it was given before.
   * - unpaid: nothing was paid, or not yet. ended: nothing will be paid.
   * - unclaimed: paid for an account that no longer exists.
   * - unknown: no such payment of this service. mismatched: it is for something else than the payment.
   * - taken_back, returned, unchanged: what a refund or a dispute did. remembered: its payment is not known yet.
   * - repeated: the event was applied before. ignored: an event of another type.
   */
  outcome:
    | 'credited'
    | 'already_credited'
    | 'unpaid'
    | 'ended'
    | 'unclaimed'
    | 'unknown'
    | 'mismatched'
    | 'taken_back'
    | 'returned'
    | 'unchanged'
    | 'remembered'
    | 'repeated'
    | 'ignored';
  paymentId?: string | undefined;
  accountId?: string | undefined;
  /** Credits that were given (positive) or taken back (negative). */
  credits?: number;
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

/**
 * Gives the pack of a checkout session if it was paid, once. Call it in a transaction. It trusts the session: it must
 * come from a signed event or from Stripe's own answer.
 *
 * 1. The session must be that of a payment that was written before it, with its account, amount and currency.
 * 2. Lock the charge, then the account: whatever else concerns this payment waits.
 * 3. Give the pack, and take back at once what refunds and disputes that arrived earlier take.
 */
export async function applySession(db: Queryable, session: CheckoutSession, mode: PaymentMode): Promise<Applied> {
  const payment = await paymentOf(db, session);
  if (payment === undefined) return { outcome: 'unknown', paymentId: session.metadata?.payment_id };
  const { id: paymentId, accountId } = payment;
  if (!isSessionOf(session, payment, mode)) return { outcome: 'mismatched', paymentId, accountId };
  // Also no_payment_required, which a discount of 100 % brings: it is not a payment.
  if (session.payment_status !== 'paid') {
    await storePaymentSession(db, paymentId, session.id);
    return { outcome: 'unpaid', paymentId, accountId };
  }
  if (session.payment_intent !== undefined) await linkCharge(db, session.payment_intent, paymentId);
  const account = await lockAccount(db, accountId);
  const isDeleted = account === undefined || account.status === 'deleted';
  const status = isDeleted ? 'unclaimed' : 'paid';
  if (!(await markPaid(db, paymentId, { status, sessionId: session.id }))) {
    return { outcome: 'already_credited', paymentId, accountId };
  }
  if (isDeleted) return { outcome: 'unclaimed', paymentId, accountId };
  const { pack, credits } = payment;
  await givePack(db, { id: paymentId, accountId, pack, credits });
  await settlePack(db, payment);
  return { outcome: 'credited', paymentId, accountId, credits };
}

/** The payment of a session; undefined when this service did not create it. */
async function paymentOf(db: Queryable, session: CheckoutSession): Promise<StoredPayment | undefined> {
  const id = session.metadata?.payment_id;
  const payment = id === undefined ? undefined : await findPayment(db, id);
  // No session is stored when the process ended before it could: the payment's id was sent to Stripe before.
  return payment === undefined || (payment.sessionId ?? session.id) === session.id ? payment : undefined;
}

function isSessionOf(session: CheckoutSession, payment: StoredPayment, mode: PaymentMode): boolean {
  const { amount_subtotal: subtotal, amount_total: total } = session;
  // With automatic tax the customer pays the tax on top of the price, and never less than the price.
  const isWholePrice = total === payment.amount || (session.automatic_tax?.enabled === true && total! > payment.amount);
  return (
    session.client_reference_id === payment.accountId &&
    session.currency === payment.currency &&
    subtotal === payment.amount &&
    isWholePrice &&
    payment.mode === mode &&
    session.livemode === (mode === 'live')
  );
}

/**
 * Takes back as many credits of a paid pack as everything known of its refunds and disputes says, or returns some. The
 * result depends on what is known, not on the order in which it arrived, so repeating it changes nothing. Requires the
 * charge's lock, in a transaction.
 *
 * @returns the change of the credits that are taken back: negative when some were returned
 */
async function settlePack(db: Queryable, { id, credits }: StoredPayment): Promise<number> {
  const money = await readReturnedMoney(db, id);
  return money === undefined ? 0 : setCreditsTakenBack(db, id, creditsToTakeBack(credits, money));
}

/** What an operator must look at, and why. */
const CONCERNS: Partial<Record<Applied['outcome'], string>> = {
  unknown: 'a payment event matches no payment of this service; no credits were added',
  mismatched: 'a payment event does not fit its payment; no credits were added',
  unclaimed: 'a payment arrived for a deleted account; no credits were added: refund it',
};

/** Repeated events and those of other products; the metric counts them. */
const UNLOGGED: ReadonlySet<Applied['outcome']> = new Set(['repeated', 'ignored']);

/** Logs one line for each event or session that had an effect, or that needs an operator. */
export function logApplied(logger: Logger, applied: Applied, fields: Record<string, string>): void {
  const { outcome, paymentId, accountId, credits } = applied;
  if (UNLOGGED.has(outcome)) return;
  const line = { ...fields, outcome, payment_id: paymentId, account_id: accountId, credits };
  const concern = CONCERNS[outcome];
  // The same Stripe account may sell other things, whose sessions name no payment.
  const isForeign = outcome === 'unknown' && paymentId === undefined;
  if (concern === undefined || isForeign) logger.info(line, concern ?? 'a payment event was handled');
  else logger.warn(line, concern);
}
