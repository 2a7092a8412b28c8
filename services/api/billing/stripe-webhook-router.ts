import { raw, Router } from 'express';
import type { RequestHandler } from 'express';
import { applyEvent, countPaymentsFromZero } from '../../../shared/billing/apply-event.ts';
import type { PaymentDeps } from '../../../shared/billing/apply-event.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe-client.ts';
import { verifyEvent } from '../../../shared/billing/stripe-objects.ts';
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
    return new ApiError('invalid_request', 'The delivery is not signed as it must be.');
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
