import { Stripe } from 'stripe';
import { parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import { MONITOR_PERIOD_CREDITS, packForSale, PACKS_FOR_SALE, planOf } from '../../../shared/billing/rules/plans.ts';
import type { PackForSale } from '../../../shared/billing/rules/plans.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { startCheckout } from '../../../shared/billing/start-checkout.ts';
import type { WantedCheckout } from '../../../shared/billing/start-checkout.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { readUsageTotal } from '../../../shared/billing/ledger-pages.ts';
import { findPayment, listReceipts } from '../../../shared/billing/payments.ts';
import type { StoredPayment, Receipt } from '../../../shared/billing/payments.ts';
import { ApiError } from '../http/api-error.ts';
import type { DashboardDeps } from './dashboard.ts';
import { downloadLedger, ledgerSection, readLedger } from './ledger-section.ts';
import { get, post } from './page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from './page.ts';
import { figures, icon, notice, number, postButton, table, time } from './parts.ts';

export const MAX_RECEIPTS = 100;
const PAYMENT_ID = /^pay_[0-9a-z]{20}$/;
/** Seconds between updates while a purchase is pending. */
const PENDING_S = '5';

/** The balance, packs to buy, receipts, and every change of the balance. */
export function billingPages(deps: DashboardDeps): PageRoute[] {
  return [
    get('/billing', (request) => show(deps, request)),
    post('/billing/buy', (request) => buyPack(deps, request)),
    get('/billing/ledger.csv', (request) => downloadLedger(deps.pool, request)),
  ];
}

async function show({ pool, payments }: DashboardDeps, request: PageRequest): Promise<ShownPage> {
  const { query } = request;
  const { id } = request.account;
  const bought = query.text('bought');
  const payment = PAYMENT_ID.test(bought) ? await findPayment(pool, bought) : undefined;
  const own = payment?.accountId === id ? payment : undefined;
  const used = { accountId: id, from: dayOf(request.now - (USED_DAYS - 1) * DAY_MS), to: dayOf(request.now) };
  // Read after the payment: a page that says that credits were added also shows them.
  const [account = request.account, usage, receipts, ledger] = await Promise.all([
    findAccount(pool, id),
    readUsageTotal(pool, used),
    listReceipts(pool, id, MAX_RECEIPTS),
    readLedger(pool, request),
  ]);
  return {
    title: 'Billing',
    content: html`<section id="balance" data-live="${own?.status === 'started' && PENDING_S}">
        ${own && purchaseNotice(request, own)}
        ${own === undefined && query.has('cancelled') && notice('', 'You left the checkout. Nothing was charged.')}
        ${accountFigures(request, account, usage.credits)}
      </section>
      ${packsSection(request, payments?.settings)}
      <div id="changes" data-live>${receiptsSection(receipts)} ${ledgerSection(request, ledger)}</div>`,
  };
}

const USED_DAYS = 30;
const DAY_MS = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function purchaseNotice({ path }: PageRequest, { id, status, credits }: StoredPayment): Html {
  if (status === 'paid') return notice('good', `${number(credits)} credits were added.`);
  if (status === 'started') {
    return html`<div class="notice" role="status">
      <p>
        <strong>Your payment is being processed.</strong> ${number(credits)} credits are added as soon as it is
        confirmed, usually within seconds; a bank transfer takes days. You can close this page. The reference is
        <code>${id}</code>.
      </p>
      <noscript>
        <p><a href="${path('/billing')}?bought=${id}">Reload this page</a> to see whether they were added.</p>
      </noscript>
    </div>`;
  }
  const message = html`This payment did not go through, and no credits were added. The reference is
    <code>${id}</code>.`;
  return notice('bad', message);
}

function accountFigures({ path }: PageRequest, { balance, owed, pack }: StoredAccount, used: number): Html {
  return figures([
    ['Credits', number(balance), owed > 0 && `${number(owed)} owed; deducted from your next purchase`],
    [`Used in the last ${USED_DAYS} days`, number(used), html`<a href="${path('/usage')}">By day, route and key</a>`],
    ['Your limits', pack === 0 ? 'No pack' : `$${pack} pack`, limitsOf(pack).join(', ')],
  ]);
}

function limitsOf(pack: number): string[] {
  const { monitors, requestsPerSecond: requests, dailyMatchCap } = planOf(pack);
  return [
    `${monitors} ${monitors === 1 ? 'monitor' : 'monitors'}`,
    `${requests} ${requests === 1 ? 'request' : 'requests'} a second`,
    `${number(dailyMatchCap)} matches per monitor per day`,
  ];
}

/** Its button alone is filled. */
const RECOMMENDED = 29;

function packsSection(request: PageRequest, settings: PaymentSettings | undefined): Html {
  const off = notice('', 'You cannot buy credits here: the operator of this service has not set up payments.');
  const trial = html`<strong>Trial without money.</strong> No money is charged. Credits bought now are taken back when
    real payments begin.`;
  return html`<section>
    <h2>Buy credits</h2>
    ${
      settings &&
      html`<p class="note">
        Credits do not expire. Your largest pack sets your limits, and you keep them after its credits are spent.
      </p>`
    }
    ${settings === undefined ? off : settings.mode !== 'live' && notice('', trial)}
    <ul class="packs">
      ${PACKS_FOR_SALE.map((offer) => packCard(request, offer, settings !== undefined))}
    </ul>
  </section>`;
}

function packCard(request: PageRequest, { pack, credits }: PackForSale, isSold: boolean): Html {
  const isRecommended = pack === RECOMMENDED;
  const label = html`<span>Buy<span class="hidden"> ${number(credits)} credits</span> for $${pack}</span>`;
  const gets = [
    ...limitsOf(pack),
    `${number(credits / MONITOR_PERIOD_CREDITS)} days of a monitor, or ${number(credits)} reads`,
  ];
  return html`<li>
    <h3>${number(credits)} credits ${isRecommended && html`<span class="tag">Recommended</span>`}</h3>
    <p class="price">
      <span class="large">$${pack}</span> <span class="note">$${((1_000 * pack) / credits).toFixed(2)} per 1,000</span>
    </p>
    <ul>
      ${gets.map((get) => html`<li>${icon('check')} ${get}</li>`)}
    </ul>
    ${
      isSold &&
      postButton(
        request,
        { action: '/billing/buy', label, fields: { pack: String(pack) } },
        isRecommended ? '' : 'quiet',
      )
    }
  </li>`;
}

export const priceOf = ({ amount, currency }: Pick<Receipt, 'amount' | 'currency'>): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100);

export function receiptsTable(receipts: readonly Receipt[]): Html {
  const rows = receipts.map((receipt) => [
    time(receipt.paidAt),
    priceOf(receipt),
    receipt.credits,
    stateOf(receipt),
    html`<code>${receipt.id}</code>`,
  ]);
  return table('Receipts', ['Paid', 'Price', 'Credits', 'State', 'Reference'], rows);
}

function receiptsSection(receipts: readonly Receipt[]): Html {
  return html`<section>
    <h2 id="receipts">Receipts</h2>
    ${receipts.length === 0 ? html`<p class="note">No purchases yet.</p>` : receiptsTable(receipts)}
  </section>`;
}

function stateOf({ status, mode, credits, takenBack }: Receipt): string {
  const trial = mode === 'live' ? '' : ', without money';
  if (status === 'voided') return `Taken back: it was a trial${trial}`;
  if (takenBack >= credits) return `Refunded or disputed${trial}`;
  if (takenBack > 0) return `Refunded in part: ${number(takenBack)} credits taken back${trial}`;
  return `Paid${trial}`;
}

const RETRY_AFTER_S = 30;
/** Each is stored, and takes a request to the payment provider, which limits all of ours together. */
const CHECKOUTS_PER_HOUR = 20;
const HOUR = 3_600;

async function buyPack(
  { pool, payments, logger, dashboardUrl }: DashboardDeps,
  request: PageRequest,
): Promise<PageResponse> {
  const pack = packForSale(request.form.text('pack'));
  if (payments === undefined) throw new ApiError('invalid_request', 'Packs cannot be bought here.');
  if (pack === undefined) throw new ApiError('invalid_request', 'No such pack. Nothing was charged.');
  const { account } = request;
  const limit = { name: `checkouts:${account.id}`, maxUses: CHECKOUTS_PER_HOUR, seconds: HOUR };
  const retryAfter = await takeUse(pool, limit);
  if (retryAfter > 0) {
    const message = `You can start a checkout ${CHECKOUTS_PER_HOUR} times an hour. Try again later. Nothing was charged.`;
    throw new ApiError('rate_limited', message, { retryAfter });
  }
  // The provider refuses an address that no mail can be sent to, such as that of the demo account.
  const email = parseEmailAddress(account.email)?.address;
  const wanted = { account: { id: account.id, email }, pack, returnUrls: returnUrls(request, dashboardUrl) };
  try {
    return { redirect: (await startCheckout({ pool, ...payments }, wanted)).url };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    // Not the error itself: it holds the headers of the response, and its message may name a part of the key.
    const { type, statusCode, requestId } = error;
    logger.error({ fault: type, status: statusCode, stripe_request_id: requestId }, 'a checkout could not be created');
    const message = 'The checkout is not responding. Nothing was charged. Try again in a minute.';
    throw new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });
  }
}

/** Where checkout pages are, as a source of form-action for the page whose form leads there. */
export function checkoutOrigin({ apiUrl }: Pick<PaymentSettings, 'apiUrl'>): string {
  return apiUrl === undefined ? 'https://checkout.stripe.com' : new URL(apiUrl).origin;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/;

/**
 * Where the checkout leads back to: the public address. On a developer's machine it is the host that the browser
 * requested, because a session at 127.0.0.1 is not valid at localhost.
 */
export function returnUrls(
  request: Pick<PageRequest, 'host' | 'path'>,
  dashboardUrl: string,
): WantedCheckout['returnUrls'] {
  const { protocol, host: publicHost } = new URL(dashboardUrl);
  const isLocal = LOOPBACK.test(publicHost) && LOOPBACK.test(request.host);
  const page = `${protocol}//${isLocal ? request.host : publicHost}${request.path('/billing')}`;
  return (paymentId) => ({ bought: `${page}?bought=${paymentId}`, cancelled: `${page}?cancelled=1` });
}
