import { lockAccount } from '../accounts/accounts.ts';
import type { Queryable } from '../postgres/pool.ts';
import type { Logger } from '../runtime/logger.ts';
import { givePack, setCreditsTakenBack } from './packs.ts';
import { findPayment, linkCharge, markPaid, readReturnedMoney, storePaymentSession } from './payments.ts';
import type { PaymentMode, StoredPayment } from './payments.ts';
import { creditsToTakeBack } from './rules/plans.ts';
import type { CheckoutSession } from './stripe-objects.ts';

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
export async function paymentOf(db: Queryable, session: CheckoutSession): Promise<StoredPayment | undefined> {
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
export async function settlePack(db: Queryable, { id, credits }: StoredPayment): Promise<number> {
  const money = await readReturnedMoney(db, id);
  return money === undefined ? 0 : setCreditsTakenBack(db, id, creditsToTakeBack(credits, money));
}

/** What an operator must look at, and why. */
const CONCERNS: Partial<Record<Applied['outcome'], string>> = {
  unknown: 'a payment event belongs to no payment of this service; nothing was credited',
  mismatched: 'a payment event does not fit its payment; nothing was credited',
  unclaimed: 'a payment arrived for a deleted account; nothing was credited: refund it',
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
