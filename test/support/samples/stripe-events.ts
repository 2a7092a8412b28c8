import { Stripe } from 'stripe';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import { newPaymentId, randomText } from '../../../shared/rules/identifiers.ts';
import { PACKS_FOR_SALE } from '../../../shared/billing/rules/plans.ts';
import type { PackForSale } from '../../../shared/billing/rules/plans.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { insertPayment } from '../../../shared/billing/payments.ts';

/** A secret as the payment provider gives it to an endpoint. */
export const WEBHOOK_SECRET = 'whsec_of_the_tests';

export const PAYMENT_SETTINGS: PaymentSettings = {
  mode: 'test',
  secretKey: 'sk_test_of_the_tests',
  webhookSecrets: [WEBHOOK_SECRET],
  apiUrl: 'http://127.0.0.1:9',
  prices: {},
  automaticTax: false,
};

/** A payment that was started, and the ids that the provider gave it. */
export interface StartedPayment extends PackForSale {
  id: string;
  accountId: string;
  sessionId: string;
  paymentIntent: string;
}

/** Writes a payment as the start of a checkout does. */
export async function startPayment(db: Queryable, accountId: string, price: number): Promise<StartedPayment> {
  const pack = PACKS_FOR_SALE.find((sold) => sold.pack === price)!;
  const id = newPaymentId();
  await insertPayment(db, { ...pack, id, accountId, mode: 'test' });
  return { ...pack, id, accountId, sessionId: `cs_test_${randomText(12)}`, paymentIntent: `pi_${randomText(12)}` };
}

/** The members that the provider sends and this service reads, and some that it does not read. */
export function sessionOf(payment: StartedPayment, overrides: object = {}): Record<string, unknown> {
  return {
    id: payment.sessionId,
    object: 'checkout.session',
    mode: 'payment',
    livemode: false,
    status: 'complete',
    payment_status: 'paid',
    client_reference_id: payment.accountId,
    metadata: { payment_id: payment.id },
    payment_intent: payment.paymentIntent,
    currency: payment.currency,
    amount_subtotal: payment.amount,
    amount_total: payment.amount,
    automatic_tax: { enabled: false, status: null },
    customer_details: { email: 'buyer@example.com' },
    ...overrides,
  };
}

export function chargeOf(payment: StartedPayment, refunded: number): Record<string, unknown> {
  return {
    id: `ch_${payment.paymentIntent.slice(3)}`,
    object: 'charge',
    amount: payment.amount,
    amount_refunded: refunded,
    currency: payment.currency,
    payment_intent: payment.paymentIntent,
    refunded: refunded >= payment.amount,
  };
}

export function disputeOf(payment: StartedPayment, status: string, number = 1): Record<string, unknown> {
  return {
    id: `du_${payment.paymentIntent.slice(3)}_${number}`,
    object: 'dispute',
    amount: payment.amount,
    currency: payment.currency,
    payment_intent: payment.paymentIntent,
    status,
  };
}

export function eventOf(type: string, object: object, id = `evt_${randomText(16)}`) {
  return { id, object: 'event', type, livemode: false, created: 1_700_000_000, data: { object } };
}

/** The delivery of an event as the provider makes it. */
export function deliveryOf(
  event: object,
  { secret = WEBHOOK_SECRET, at = Date.now() }: { secret?: string; at?: number } = {},
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(event, undefined, 2);
  const timestamp = Math.floor(at / 1_000);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
  return { body, headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature } };
}
