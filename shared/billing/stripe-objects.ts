import { Stripe } from 'stripe';
import { z } from 'zod';

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

/** A delivery that is older may be a replay. Stripe signs each of its own retries anew. */
const MAX_AGE_S = 300;
/** `t=…,v1=…`. The package throws a plain Error at a signature without a value. */
const SIGNATURE = /^\w+=[^,=]+(,\w+=[^,=]+)*$/;

/**
 * Checks a delivery of an event.
 *
 * @param secrets any of them may have signed it, as while one replaces another
 * @param nowMs milliseconds since the epoch
 * @returns undefined when the signature is missing, wrong or older than five minutes
 * @throws ZodError when what is correctly signed is not an event
 */
export function verifyEvent(
  { payload, signature = '' }: { payload: Buffer; signature: string | undefined },
  secrets: readonly string[],
  nowMs: number,
): PaymentEvent | undefined {
  if (!SIGNATURE.test(signature)) return undefined;
  for (const secret of secrets) {
    try {
      const event = Stripe.webhooks.constructEvent(payload, signature, secret, MAX_AGE_S, undefined, nowMs);
      return paymentEvent.parse(event);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    }
  }
  return undefined;
}
