import { createHmac, randomBytes } from 'node:crypto';
import pRetry from 'p-retry';
import type { RouteResponse } from './route.ts';
import { html } from '../../../shared/http/html.ts';
import type { HtmlValue } from '../../../shared/http/html.ts';
import { pageOf } from '../../../shared/http/page.ts';

export interface PaymentSimulatorOptions {
  key: string;
  secret: string;
  webhookUrl: string;
}

interface PaymentRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: URLSearchParams;
  headers: { authorization?: string | undefined; idempotencyKey?: string | undefined };
}

/** Bounds the memory. The oldest are forgotten first. */
const MOST_KEPT = 1_000;
const PAGE = /^\/checkout\/(cs_test_\w+)(?:\/(pay|cancel|refund))?$/;

/** A stand-in for Stripe's Checkout. In memory: open checkouts and undelivered events are lost at the end. */
export class PaymentSimulator {
  private readonly options: PaymentSimulatorOptions;
  private readonly now: () => number;
  private readonly stopping = new AbortController();
  private readonly sessions = new Map<string, TrialSession>();
  private readonly sessionsByKey = new Map<string, string>();
  private readonly events: ListedObject[] = [];
  private readonly deliveries = new Set<Promise<unknown>>();
  private origin = '';

  constructor(options: PaymentSimulatorOptions, now: () => number) {
    this.options = options;
    this.now = now;
  }

  /** Whether a path belongs to the payment simulator and not to the forum. */
  static serves(path: string): boolean {
    return /^\/(v1\/(checkout|events)|checkout)(\/|$)/.test(path);
  }

  listensAt(origin: string): void {
    this.origin = origin;
  }

  answer(request: PaymentRequest): RouteResponse {
    if (request.path.startsWith('/checkout/')) return this.page(request);
    if (request.headers.authorization !== `Bearer ${this.options.key}`) return refusal(401, 'Invalid API Key provided');
    const { method, path, query } = request;
    if (path === '/v1/checkout/sessions' && method === 'POST') return this.create(request);
    if (path === '/v1/checkout/sessions' && method === 'GET') return listOf([...this.sessions.values()], path, query);
    if (path === '/v1/events' && method === 'GET') return listOf(this.events, path, query);
    const session = this.sessions.get(path.split('/')[4] ?? '');
    if (session !== undefined && method === 'GET') return { status: 200, body: session };
    return refusal(404, `No such resource, or not simulated: ${method} ${path}`);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.deliveries);
  }

  private create({ body, headers }: PaymentRequest): RouteResponse {
    const { idempotencyKey = trialId('idem') } = headers;
    const known = this.sessions.get(this.sessionsByKey.get(idempotencyKey) ?? '');
    if (known !== undefined) return { status: 200, body: known };
    const session = newSession(body, this.origin, this.seconds());
    const { id, amount_total: amount, currency, success_url: success, cancel_url: cancel } = session;
    if (body.get('mode') !== 'payment') return refusal(400, 'Only mode=payment is simulated', 'mode');
    if (!isWebAddress(success)) return refusal(400, 'Not a valid URL', 'success_url');
    if (!isWebAddress(cancel)) return refusal(400, 'Not a valid URL', 'cancel_url');
    if (!Number.isSafeInteger(amount) || amount < 50 || !/^[a-z]{3}$/.test(currency)) {
      return refusal(400, 'One item with price_data is simulated, of at least 50 cents', 'line_items');
    }
    this.sessions.set(id, session);
    this.sessionsByKey.set(idempotencyKey, id);
    forgetOldest(this.sessions);
    forgetOldest(this.sessionsByKey);
    return { status: 200, body: session };
  }

  private page({ method, path }: PaymentRequest): RouteResponse {
    const [, id = '', action] = PAGE.exec(path) ?? [];
    const session = this.sessions.get(id);
    if (session === undefined) {
      return trialPage(
        404,
        'This trial checkout no longer exists',
        'It was lost when the simulator stopped. Start again.',
      );
    }
    if (method !== 'POST' || action === undefined) return checkoutPage(session);
    if (action === 'cancel') return { status: 303, body: '', headers: { location: session.cancel_url } };
    if (action === 'pay') this.pay(session);
    else this.refund(session);
    return { status: 303, body: '', headers: { location: session.success_url } };
  }

  private pay(session: TrialSession): void {
    if (session.status === 'complete') return;
    Object.assign(session, { status: 'complete', payment_status: 'paid', payment_intent: trialId('pi') });
    this.emit('checkout.session.completed', { ...session });
  }

  private refund(session: TrialSession): void {
    if (session.status === 'complete') this.emit('charge.refunded', refundedCharge(session));
  }

  private emit(type: string, object: object): void {
    const created = this.seconds();
    const event = { id: trialId('evt'), object: 'event', type, livemode: false, created, data: { object } };
    this.events.push(event);
    if (this.events.length > MOST_KEPT) this.events.shift();
    const { now } = this;
    const delivery = deliverEvent(event, { ...this.options, now, signal: this.stopping.signal });
    this.deliveries.add(delivery);
    void delivery.finally(() => this.deliveries.delete(delivery));
  }

  private seconds(): number {
    return Math.floor(this.now() / 1_000);
  }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A Map lists its entries in the order of insertion. */
function forgetOldest(kept: Map<string, unknown>): void {
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

/** The page of a session: to pay or cancel while it is open, to refund once it is paid. Works without scripts. */
function checkoutPage(session: TrialSession): RouteResponse {
  const { id, amount_total: amount, currency, customer_email: email, success_url: back, status } = session;
  const price = new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100);
  const button = (action: string, label: string, kind = 'quiet') =>
    html`<form method="post" action="/checkout/${id}/${action}"><button class="${kind}">${label}</button></form>`;
  const order = html`<dl class="figures">
    <div>
      <dt>${session.line_items.data[0]!.description}</dt>
      <dd><span class="large">${price}</span></dd>
    </div>
  </dl>`;
  const actions =
    status === 'open'
      ? html`<p class="note">
            ${email === null ? '' : `For ${email}. `}Nothing is charged: this page takes the place of Stripe’s.
          </p>
          ${button('pay', `Pay ${price} in trial money`, '')} ${button('cancel', 'Cancel')}`
      : html`<p>This trial purchase is paid. <a href="${back}">Back to the shop</a></p>
          ${button('refund', 'Refund it to see what a refund does')}`;
  return trialPage(200, 'Trial checkout', html`${order} ${actions}`, session);
}

function trialPage(status: number, title: string, content: HtmlValue, session?: TrialSession): RouteResponse {
  // A form's answer leads back to the shop, which counts as a target of the form.
  const targets =
    session === undefined ? [] : [session.success_url, session.cancel_url].map((to) => new URL(to).origin);
  const banner = html`<p class="notice warn"><strong>Trial without money</strong></p>`;
  const { text, contentSecurityPolicy } = pageOf(title, html`${banner} ${content}`, [...new Set(targets)].join(' '));
  const headers = {
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
  return { status, body: text, headers };
}

interface DeliveryOptions {
  webhookUrl: string;
  secret: string;
  now: () => number;
  signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;

/** Repeated for nine minutes until it is answered 2xx; Stripe takes three days. Each attempt is signed again. */
async function deliverEvent(event: object, options: DeliveryOptions): Promise<void> {
  const body = JSON.stringify(event);
  const { signal } = options;
  await pRetry(() => attempt(body, options), { retries: 14, minTimeout: 1_000, maxTimeout: 60_000, signal }).catch(
    () => undefined,
  );
}

/** The signature is Stripe's: HMAC-SHA256 of the time, a dot and the bytes of the body. */
async function attempt(body: string, { webhookUrl, secret, now, signal }: DeliveryOptions): Promise<void> {
  const at = Math.floor(now() / 1_000);
  const signature = `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
  const response = await fetch(webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
}

function refusal(status: number, message: string, param?: string): RouteResponse {
  const error = { type: 'invalid_request_error', message, ...(param === undefined ? {} : { param }) };
  return { status, body: { error } };
}

interface ListedObject {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  type?: string;
  status?: string;
}

/** A page of a list in Stripe's shape, newest first, filtered by `created`, `types` and `status`. */
export function listOf(all: readonly ListedObject[], url: string, query: URLSearchParams): RouteResponse {
  const from = Number(query.get('created[gte]') ?? 0);
  const to = Number(query.get('created[lte]') ?? Number.MAX_SAFE_INTEGER);
  const types = [...query].filter(([name]) => name.startsWith('types[')).map(([, type]) => type);
  const status = query.get('status') ?? undefined;
  const matching = all
    .filter(({ created }) => created >= from && created <= to)
    .filter((listed) => types.length === 0 || types.includes(listed.type ?? ''))
    .filter((listed) => status === undefined || listed.status === status)
    .toReversed();
  const after = query.get('starting_after');
  const begin = after === null ? 0 : matching.findIndex(({ id }) => id === after) + 1;
  const limit = Number(query.get('limit') ?? 10);
  const data = matching.slice(begin, begin + limit);
  return { status: 200, body: { object: 'list', url, data, has_more: matching.length > begin + limit } };
}

type TrialSession = ReturnType<typeof newSession>;

/** A checkout session in the shape of Stripe's API, with the members that this service and its readers use. */
function newSession(form: URLSearchParams, origin: string, created: number) {
  const id = trialId('cs_test');
  const amount = Number(form.get('line_items[0][price_data][unit_amount]') ?? NaN);
  const metadata = [...form].map(([name, value]) => [/^metadata\[(\w+)\]$/.exec(name)?.[1], value] as const);
  return {
    id,
    object: 'checkout.session',
    mode: 'payment',
    livemode: false,
    status: 'open' as 'open' | 'complete',
    payment_status: 'unpaid' as 'unpaid' | 'paid',
    client_reference_id: form.get('client_reference_id'),
    customer_email: form.get('customer_email'),
    metadata: Object.fromEntries(metadata.filter(([name]) => name !== undefined)) as Record<string, string>,
    payment_intent: null as string | null,
    currency: form.get('line_items[0][price_data][currency]') ?? '',
    amount_subtotal: amount,
    amount_total: amount,
    line_items: { data: [{ description: form.get('line_items[0][price_data][product_data][name]') ?? 'A pack' }] },
    automatic_tax: { enabled: false, status: null },
    created,
    url: `${origin}/checkout/${id}`,
    success_url: form.get('success_url') ?? '',
    cancel_url: form.get('cancel_url') ?? '',
  };
}

function trialId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** The charge of a paid session, as Stripe describes it after its refund. */
function refundedCharge(session: TrialSession): object {
  return {
    id: `ch_${session.payment_intent?.slice(3)}`,
    object: 'charge',
    livemode: false,
    payment_intent: session.payment_intent,
    amount: session.amount_total,
    amount_refunded: session.amount_total,
    refunded: true,
    currency: session.currency,
    metadata: session.metadata,
  };
}
