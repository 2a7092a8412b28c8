import { Stripe } from 'stripe';
import { parseEmailAddress } from '../../../../shared/domain/accounts/email-address.ts';
import { packForSale } from '../../../../shared/domain/accounts/packs-for-sale.ts';
import { startCheckout } from '../../../../shared/payments/start-checkout.ts';
import { takeUse } from '../../../../shared/stores/accounts/sliding-log-limits.ts';
import { ApiError } from '../../http/api-error.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, Visit } from '../page-route.ts';
import { returnUrls } from './return-urls.ts';

const RETRY_AFTER_S = 30;
/** Each is stored, and is a request to the payment provider, which limits all of ours together. */
const CHECKOUTS_PER_HOUR = 20;
const HOUR = 3_600;

/** POST /billing/buy: begins a checkout and leads to its page. */
export async function buyPack(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  const { pool, payments, logger, dashboardUrl } = deps;
  const pack = packForSale(visit.form.text('pack'));
  if (payments === undefined) throw new ApiError('invalid_request', 'Packs cannot be bought here.');
  if (pack === undefined) throw new ApiError('invalid_request', 'There is no such pack. Nothing was charged.');
  const { account } = visit;
  const limit = { name: `checkouts:${account.id}`, maxUses: CHECKOUTS_PER_HOUR, seconds: HOUR };
  const retryAfter = await takeUse(pool, limit);
  if (retryAfter > 0) {
    const message = `A checkout can be begun ${CHECKOUTS_PER_HOUR} times an hour. Nothing was charged.`;
    throw new ApiError('rate_limited', message, { retryAfter });
  }
  // The provider refuses an address that no mail can be sent to, such as that of the demo account.
  const email = parseEmailAddress(account.email)?.address;
  const wanted = { account: { id: account.id, email }, pack, returnUrls: returnUrls(visit, dashboardUrl) };
  try {
    return { redirect: (await startCheckout({ pool, ...payments }, wanted)).url };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    // Not the error itself: it holds the headers of the answer, and its message may name a part of the key.
    const { type, statusCode, requestId } = error;
    logger.error({ fault: type, status: statusCode, stripe_request_id: requestId }, 'a checkout could not be created');
    const message = 'The checkout does not answer at the moment. Nothing was charged. Try again in a minute.';
    throw new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });
  }
}
