import { Stripe } from 'stripe';
import { parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import { packForSale, PACKS_FOR_SALE, planOf } from '../../../shared/billing/rules/plans.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { startCheckout } from '../../../shared/billing/start-checkout.ts';
import type { WantedCheckout } from '../../../shared/billing/start-checkout.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { readLedgerPage } from '../../../shared/billing/ledger-pages.ts';
import type { StoredLedgerEntry } from '../../../shared/billing/ledger-pages.ts';
import { findPayment, listReceipts } from '../../../shared/billing/payments.ts';
import type { StoredPayment, Receipt } from '../../../shared/billing/payments.ts';
import { csvOf, entryOf } from '../billing/ledger-routes.ts';
import { ApiError } from '../http/api-error.ts';
import type { DashboardDeps } from './dashboard.ts';
import { file, get, post, streamed } from './page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from './page.ts';
import { figures, notice, number, postButton, select, table, time } from './parts.ts';

const ENTRIES_PER_PAGE = 25;
const MAX_RECEIPTS = 100;
const ENTRY_ID = /^\d{1,15}$/;
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
  const { kinds } = ledgerFilter(request);
  const before = query.text('before');
  const beforeId = ENTRY_ID.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER;
  // Read after the payment: a page that says that credits were added also shows them.
  const [account = request.account, receipts, entries] = await Promise.all([
    findAccount(pool, id),
    listReceipts(pool, id, MAX_RECEIPTS),
    readLedgerPage(pool, { accountId: id, beforeId, limit: ENTRIES_PER_PAGE + 1, kinds }),
  ]);
  return {
    title: 'Billing',
    content: html`<section id="balance" data-live="${own?.status === 'started' && PENDING_S}">
        ${own && purchaseNotice(own)}
        ${own === undefined && query.has('cancelled') && notice('', 'You left the checkout. Nothing was charged.')}
        ${accountFigures(account)}
      </section>
      ${packsSection(request, payments?.settings)}
      <div id="changes" data-live>${receiptsSection(receipts)} ${ledgerSection(request, entries)}</div>`,
  };
}

function purchaseNotice({ id, status, credits }: StoredPayment): Html {
  if (status === 'paid') return notice('good', `${number(credits)} credits were added.`);
  if (status === 'started') {
    return html`<p class="notice" role="status">
      Your payment is being processed. ${number(credits)} credits are added as soon as it is confirmed, usually within
      seconds; a bank transfer takes days. You can close this page. The reference is <code>${id}</code>.
    </p>`;
  }
  const message = html`This payment did not go through, and no credits were added. The reference is
    <code>${id}</code>.`;
  return notice('bad', message);
}

function accountFigures({ balance, owed, pack }: StoredAccount): Html {
  const { monitors, requestsPerSecond: requests, dailyMatchCap } = planOf(pack);
  return figures([
    ['Credits', number(balance), owed > 0 && `${number(owed)} owed; deducted from your next purchase`],
    [
      'Largest pack',
      pack === 0 ? 'none' : `$${pack}`,
      `${monitors} ${monitors === 1 ? 'monitor' : 'monitors'}, ${requests} ${requests === 1 ? 'request' : 'requests'} a second, ${number(dailyMatchCap)} matches per monitor and day`,
    ],
  ]);
}

function packsSection(request: PageRequest, settings: PaymentSettings | undefined): Html {
  const off = notice('', 'You cannot buy credits here: the operator of this service has not set up payments.');
  const trial = html`<strong>Trial without money.</strong> No money is charged. Credits bought now are taken back when
    real payments begin.`;
  return html`<section>
    <h2>Buy credits</h2>
    ${settings === undefined ? off : settings.mode !== 'live' && notice('', trial)}
    ${
      settings &&
      html`<p>
        Credits do not expire. Your largest pack sets your limits, and you keep them after its credits are spent.
      </p>`
    }
    <ul class="figures">
      ${PACKS_FOR_SALE.map(({ pack, credits }) => {
        const { monitors, requestsPerSecond, dailyMatchCap } = planOf(pack);
        const buy = { action: '/billing/buy', label: `Buy for $${pack}`, fields: { pack: String(pack) } };
        return html`<li>
          <h3>$${pack}</h3>
          <p><strong>${number(credits)} credits</strong></p>
          <ul>
            <li>${monitors} monitors</li>
            <li>${requestsPerSecond} requests a second</li>
            <li>${number(dailyMatchCap)} matches per monitor and day</li>
          </ul>
          ${settings && postButton(request, buy)}
        </li>`;
      })}
    </ul>
  </section>`;
}

function receiptsSection(receipts: readonly Receipt[]): Html {
  const price = ({ amount, currency }: Receipt) =>
    new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100);
  const rows = receipts.map((receipt) => [
    time(receipt.paidAt),
    price(receipt),
    receipt.credits,
    stateOf(receipt),
    html`<code>${receipt.id}</code>`,
  ]);
  return html`<section>
    <h2 id="receipts">Receipts</h2>
    ${
      receipts.length === 0
        ? html`<p>No purchases yet.</p>`
        : table('Receipts', ['Paid', 'Price', 'Credits', 'State', 'Reference'], rows)
    }
  </section>`;
}

function stateOf({ status, mode, credits, takenBack }: Receipt): string {
  const trial = mode === 'live' ? '' : ', without money';
  if (status === 'voided') return `Taken back: it was a trial${trial}`;
  if (takenBack >= credits) return `Refunded or disputed${trial}`;
  if (takenBack > 0) return `Refunded in part: ${number(takenBack)} credits taken back${trial}`;
  return `Paid${trial}`;
}

const KINDS: Readonly<Record<string, string>> = {
  grant: 'Granted',
  pack: 'Pack',
  refund: 'Taken back',
  correction: 'Correction by the operator',
  reversal: 'Refund of a failed request',
  monitor_create: 'New monitor',
  monitor_resume: 'Resumed monitor',
  monitor_renewal: 'Monitor, 24 hours',
  backfill: 'Earlier matches',
  read: 'Reading',
  sql: 'SQL',
};

/** What the ledger can be narrowed to: the value of the form, its name, and the kinds of entries. */
const FILTERS = [
  { value: '', name: 'Everything', kinds: undefined },
  { value: 'packs', name: 'Packs, grants, refunds and corrections', kinds: ['pack', 'grant', 'refund', 'correction'] },
  { value: 'monitors', name: 'Monitors', kinds: ['monitor_create', 'monitor_resume', 'monitor_renewal', 'backfill'] },
  { value: 'reading', name: 'Reading and SQL', kinds: ['read', 'sql', 'reversal'] },
] as const;

/** An unknown value shows everything. */
function ledgerFilter({ query }: PageRequest): (typeof FILTERS)[number] {
  return FILTERS.find(({ value }) => value === query.text('kind')) ?? FILTERS[0];
}

function ledgerSection(request: PageRequest, found: readonly StoredLedgerEntry[]): Html {
  const { value } = ledgerFilter(request);
  const entries = found.slice(0, ENTRIES_PER_PAGE);
  const older = found.length > entries.length && `?kind=${value}&before=${entries.at(-1)!.id}#ledger`;
  const page = request.path('/billing');
  const rows = entries.map(({ createdAt, kind, amount, balanceAfter, reference, route }) => [
    time(createdAt),
    html`${KINDS[kind] ?? kind}${route !== null && html`<br /><code class="note">${route}</code>`}`,
    `${amount > 0 ? '+' : ''}${number(amount)}`,
    balanceAfter,
    html`<code>${reference}</code>`,
  ]);
  const options = FILTERS.map((filter) => [filter.value, filter.name] as const);
  const columns = ['When', 'What', 'Credits', 'Balance', 'Reference'];
  return html`<section>
    <h2 id="ledger">All balance changes</h2>
    <form method="get" action="${page}" class="actions">
      ${select({ name: 'kind', label: 'Show', value, options })}
      <button class="quiet">Filter</button>
      <a class="button quiet" href="${page}/ledger.csv${value !== '' && `?kind=${value}`}">Download as CSV</a>
    </form>
    ${entries.length === 0 ? html`<p>Nothing to show.</p>` : table('Balance changes, newest first', columns, rows)}
    ${older !== false && html`<p><a href="${page}${older}">Older entries</a></p>`}
  </section>`;
}

const ROWS_PER_PIECE = 1_000;
const STALL_MS = 30_000;

function downloadLedger(pool: Queryable, request: PageRequest): PageResponse {
  const { kinds } = ledgerFilter(request);
  const accountId = request.account.id;
  async function* pieces(): AsyncGenerator<string> {
    let beforeId = Number.MAX_SAFE_INTEGER;
    for (let header = true; ; header = false) {
      const rows = await readLedgerPage(pool, { accountId, beforeId, limit: ROWS_PER_PIECE, kinds });
      const text = csvOf(rows.map(entryOf), { header });
      if (text !== '') yield text;
      if (rows.length < ROWS_PER_PIECE) return;
      beforeId = rows.at(-1)!.id;
    }
  }
  return file('text/csv; charset=utf-8', 'ledger.csv', streamed(pieces, STALL_MS));
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
