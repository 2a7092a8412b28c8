import { Stripe } from 'stripe';
import { paymentEvent } from './stripe-objects.ts';
import type { PaymentEvent } from './stripe-objects.ts';

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
  delivery: { payload: Buffer; signature: string | undefined },
  secrets: readonly string[],
  nowMs: number,
): PaymentEvent | undefined {
  if (!SIGNATURE.test(delivery.signature ?? '')) return undefined;
  for (const secret of secrets) {
    const event = signedBy(delivery, secret, nowMs);
    if (event !== undefined) return paymentEvent.parse(event);
  }
  return undefined;
}

function signedBy(
  { payload, signature = '' }: { payload: Buffer; signature: string | undefined },
  secret: string,
  nowMs: number,
): unknown {
  try {
    return Stripe.webhooks.constructEvent(payload, signature, secret, MAX_AGE_S, undefined, nowMs);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined;
    throw error;
  }
}
