import { Stripe } from 'stripe';
import { countPaymentsFromZero } from '../../shared/payments/apply-event.ts';
import type { PaymentMode } from '../../shared/stores/payments/payments.ts';
import type { BillerDeps } from './biller-deps.ts';
import type { Lease } from './lease.ts';
import { reconcilePayments } from './reconcile-payments.ts';
import { modesToVoid, voidPayments } from './void-payments.ts';

const VOIDING_INTERVAL_MS = 10 * 60_000;
/** How often each process checks whether this hour's comparison was made. */
const RECONCILIATION_INTERVAL_MS = 5 * 60_000;
/** So long after a comparison nobody makes another. */
export const RECONCILIATION_SECONDS = 60 * 60;
const RETRY_MS = 60_000;

type RoundDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger' | 'payments' | 'hasSimulatedForum'> & {
  signal: AbortSignal;
};

/** Takes back purchases without money, if this installation has any that it must not have. */
export function voidingRound(deps: RoundDeps, lease: Lease): () => Promise<number> {
  const mode: PaymentMode | undefined = deps.payments?.settings.mode;
  const modes = modesToVoid({ mode, hasSimulatedForum: deps.hasSimulatedForum ?? true });
  const mayContinue = () => lease.mayContinue();
  return async () => {
    if (await mayContinue()) await voidPayments({ ...deps, mayContinue }, modes);
    return VOIDING_INTERVAL_MS;
  };
}

/**
 * Compares payments with the provider once an hour, in one process. While the provider does not answer, the comparison
 * is tried again every minute; the log has one line when that begins and one when it ends.
 */
export function reconciliationRound(deps: RoundDeps, lease: Lease): () => Promise<number> {
  const { payments, logger } = deps;
  if (payments) countPaymentsFromZero(deps.metrics);
  let isFailing = false;
  const mayContinue = () => lease.mayContinue();
  return async () => {
    if (payments === undefined || !(await mayContinue())) return RECONCILIATION_INTERVAL_MS;
    try {
      if (await reconcilePayments({ ...deps, ...payments, mayContinue })) await lease.holdFor(RECONCILIATION_SECONDS);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      if (!isFailing) logger.warn(faultOf(error), 'payments cannot be compared with the provider; this is repeated');
      isFailing = true;
      return RETRY_MS;
    }
    if (isFailing) logger.info('payments are compared with the provider again');
    isFailing = false;
    return RECONCILIATION_INTERVAL_MS;
  };
}

/** The error itself holds the answer's headers, and its message may name a part of the key. */
function faultOf({ type, statusCode, requestId }: InstanceType<typeof Stripe.errors.StripeError>): object {
  return { fault: type, status: statusCode, stripe_request_id: requestId };
}
