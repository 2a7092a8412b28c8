import type { Stripe } from 'stripe';
import type { PackForSale } from './rules/plans.ts';
import { newPaymentId } from '../rules/identifiers.ts';
import type { Pool } from '../postgres/pool.ts';
import { insertPayment, markUnpaid, storePaymentSession } from './payments.ts';
import type { PaymentSettings } from './stripe.ts';

export interface CheckoutDeps {
  pool: Pool;
  stripe: Stripe;
  settings: Pick<PaymentSettings, 'mode' | 'prices' | 'automaticTax'>;
}

export interface WantedCheckout {
  account: { id: string; email: string | undefined };
  pack: PackForSale;
  /** Absolute addresses of this service, to which the customer returns. */
  returnUrls: (paymentId: string) => { bought: string; cancelled: string };
}

export interface StartedCheckout {
  paymentId: string;
  /** The checkout page of the provider. */
  url: string;
}

/**
 * Begins to sell a pack: writes the payment, then creates its checkout session.
 *
 * 1. Commit the payment. A crash after this leaves a payment that was started and never paid.
 * 2. Create the session, with the payment's id as idempotency key. A crash after this leaves a session that nobody was
 *    led to; if it is paid all the same, its payment is found by its id.
 * 3. Store the session's id.
 *
 * @throws the client's error when the provider refuses or does not answer; an Error when it would charge another price
 */
export async function startCheckout(deps: CheckoutDeps, wanted: WantedCheckout): Promise<StartedCheckout> {
  const { pool, stripe, settings } = deps;
  const { account, pack, returnUrls } = wanted;
  const id = newPaymentId();
  const { mode } = settings;
  await insertPayment(pool, { ...pack, id, accountId: account.id, mode });
  const { bought, cancelled } = returnUrls(id);
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      client_reference_id: account.id,
      ...(account.email === undefined ? {} : { customer_email: account.email }),
      metadata: { payment_id: id },
      payment_intent_data: { metadata: { payment_id: id } },
      line_items: [{ quantity: 1, ...priceOf(pack, settings) }],
      automatic_tax: { enabled: settings.automaticTax },
      // The amount is compared in the currency of the pack.
      adaptive_pricing: { enabled: false },
      success_url: bought,
      cancel_url: cancelled,
    },
    { idempotencyKey: id },
  );
  if (session.amount_subtotal !== pack.amount || session.currency !== pack.currency || session.url === null) {
    await markUnpaid(pool, id, 'failed');
    throw new Error(
      `the checkout of pack ${pack.pack} costs ${session.amount_subtotal} ${session.currency} instead of ${pack.amount} ${pack.currency}: check its STRIPE_PRICE`,
    );
  }
  await storePaymentSession(pool, id, session.id);
  return { paymentId: id, url: session.url };
}

type LineItem = NonNullable<Stripe.Checkout.SessionCreateParams['line_items']>[number];

function priceOf(
  { pack, amount, currency, credits }: PackForSale,
  { prices, automaticTax }: Pick<PaymentSettings, 'prices' | 'automaticTax'>,
): Pick<LineItem, 'price' | 'price_data'> {
  const price = prices[pack];
  if (price !== undefined) return { price };
  const name = `${credits.toLocaleString('en')} credits`;
  return {
    price_data: {
      currency,
      unit_amount: amount,
      product_data: { name },
      ...(automaticTax ? { tax_behavior: 'exclusive' as const } : {}),
    },
  };
}
