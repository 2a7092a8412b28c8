import { Stripe } from 'stripe';
import { z } from 'zod';
import type { Config } from '../runtime/config.ts';

/** The settings of payments, when they are on. */
export type PaymentSettings = NonNullable<Config['payments']>;

/**
 * The version that the requests and answers of this service are written for. An upgrade of the package may bring
 * another default; this one changes only together with the code.
 */
const API_VERSION = '2026-10-28.endive';
/** A person waits for the checkout. */
const TIMEOUT_MS = 8_000;
/** Each with Stripe's own back-off, and the same idempotency key. */
const RETRIES = 1;

/** The official client, for the host of the settings. It opens no connection before its first call. */
export function createStripe({ secretKey, apiUrl }: Pick<PaymentSettings, 'secretKey' | 'apiUrl'>): Stripe {
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(apiUrl === undefined ? {} : addressOf(new URL(apiUrl))),
  });
}

function addressOf({ protocol, hostname, port }: URL): { protocol: 'http' | 'https'; host: string; port: string } {
  const isPlain = protocol === 'http:';
  return { protocol: isPlain ? 'http' : 'https', host: hostname, port: port === '' ? (isPlain ? '80' : '443') : port };
}

/**
 * What this service reads of Stripe's objects. They come from outside, also with a valid signature: the version of the
 * API that an event is written in is a setting in Stripe's dashboard.
 */

/** Stripe gives the id of another object, or, when asked to, the object, or null. */
const idOf = z
  .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
  .nullish()
  .transform((id) => id ?? undefined);

export const checkoutSession = z.object({
  id: z.string(),
  client_reference_id: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  payment_status: z.string(),
  payment_intent: idOf,
  currency: z.string().nullish(),
  /** In the currency's smallest unit, before and after taxes and discounts. */
  amount_subtotal: z.number().int().nullish(),
  amount_total: z.number().int().nullish(),
  automatic_tax: z.object({ enabled: z.boolean() }).nullish(),
  livemode: z.boolean(),
});

export type CheckoutSession = z.infer<typeof checkoutSession>;

export const charge = z.object({
  id: z.string(),
  payment_intent: idOf,
  amount: z.number().int().positive(),
  /** The sum of all refunds so far. */
  amount_refunded: z.number().int().min(0),
});

export const dispute = z.object({
  id: z.string(),
  payment_intent: idOf,
  status: z.string(),
});

export const paymentEvent = z.object({
  id: z.string().min(1),
  type: z.string(),
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }),
});

export type PaymentEvent = z.infer<typeof paymentEvent>;
