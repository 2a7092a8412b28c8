import { raw, Router } from 'express';
import type { RequestHandler } from 'express';
import { Stripe } from 'stripe';
import { applyEvent, countPaymentsFromZero } from '../../../shared/billing/apply-event.ts';
import type { PaymentDeps } from '../../../shared/billing/apply-event.ts';
import type { PaymentEvent, PaymentSettings } from '../../../shared/billing/stripe.ts';
import { paymentEvent } from '../../../shared/billing/stripe.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ApiError } from '../http/api-error.ts';
import { methodNotAllowed } from '../http/route.ts';

const PATH = '/stripe/webhook';
/** An event holds one object; the largest of those that are applied has a few dozen fields. */
const BODY_LIMIT = 256 * 1024;
/** Has a time and a signature, in any order. */
const SIGNATURE = /^(?=(?:.*,)?t=\d)(?=(?:.*,)?v1=\w)/;

export interface StripeWebhookDeps extends Omit<PaymentDeps, 'metrics'> {
  metrics: PaymentDeps['metrics'] & { paymentsRefused: { inc(): void } };
  /** undefined: payments are off, and every delivery is refused. */
  payments: Pick<PaymentSettings, 'mode' | 'webhookSecrets'> | undefined;
  clock: Clock;
}

/**
 * POST /stripe/webhook, the only way into the ledger from outside. The signature covers the bytes of the body, so this
 * must stand before everything that parses bodies. 200 is sent after the commit: the sender repeats everything else.
 */
export function createStripeWebhookRouter(deps: StripeWebhookDeps): Router {
  const { payments, metrics, clock } = deps;
  if (payments) countPaymentsFromZero(metrics);
  const router = Router();
  const body = raw({ limit: BODY_LIMIT, type: () => true, inflate: false });
  const refusal = (): ApiError => {
    metrics.paymentsRefused.inc();
    // The same sentence for every reason: it must not help to forge a signature.
    return new ApiError('invalid_request', 'The delivery is not signed correctly.');
  };
  const refuseUnsigned: RequestHandler = (request, _response, next) => {
    // Before the body is read: strangers would make the process hold as many bodies as it has connections.
    if (payments === undefined || !SIGNATURE.test(request.get('Stripe-Signature') ?? '')) throw refusal();
    next();
  };
  router.post(PATH, refuseUnsigned, body, async (request, response) => {
    // Without a body the parser leaves something else.
    const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.of();
    const delivery = { payload, signature: request.get('Stripe-Signature') };
    const event = payments && verifyEvent(delivery, payments.webhookSecrets, clock());
    if (event === undefined) throw refusal();
    await applyEvent(deps, event, payments!.mode);
    response.set('Cache-Control', 'no-store').json({ received: true });
  });
  router.all(PATH, methodNotAllowed(['POST']));
  return router;
}

/** A delivery that is older may be a replay. Stripe signs each of its own retries anew. */
const MAX_AGE_S = 300;
/** `t=…,v1=…`. The package throws a plain Error at a signature without a value. */
const WELL_FORMED = /^\w+=[^,=]+(,\w+=[^,=]+)*$/;

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
  if (!WELL_FORMED.test(signature)) return undefined;
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
