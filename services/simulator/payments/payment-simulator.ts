import type { Answer } from '../http/answer.ts';
import { checkoutPage, trialPage } from './checkout-page.ts';
import { deliverEvent } from './event-delivery.ts';
import { nestedForm, textAt, textsAt } from './form-body.ts';
import { listOf, refusal } from './stripe-answers.ts';
import { chargeOf, trialId } from './trial-session.ts';
import type { TrialEvent, TrialSession } from './trial-session.ts';

export interface PaymentSimulatorOptions {
  /** The secret key that callers must have. */
  key: string;
  /** Signs events. */
  secret: string;
  /** Where events are sent. */
  webhookUrl: string;
}

/** A request to the payment simulator. */
export interface PaymentRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: URLSearchParams;
  headers: { authorization?: string | undefined; idempotencyKey?: string | undefined };
}

/** Bounds the memory. The oldest are forgotten first. */
const MOST_KEPT = 1_000;
const PAGE = /^\/checkout\/(cs_test_\w+)(?:\/(pay|cancel|refund))?$/;

/**
 * A stand-in for Stripe's Checkout: the part of its API that this service calls, a page to pay without money, and
 * signed events. Everything is kept in memory, so a checkout that is open when the simulator stops is lost, and so is
 * an event that it could not deliver before. No money is.
 */
export class PaymentSimulator {
  private readonly options: PaymentSimulatorOptions;
  private readonly now: () => number;
  private readonly stopping = new AbortController();
  private readonly sessions = new Map<string, TrialSession>();
  private readonly sessionsByKey = new Map<string, string>();
  private readonly events: TrialEvent[] = [];
  private readonly deliveries = new Set<Promise<unknown>>();
  /** The address that the pages have. */
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

  answer(request: PaymentRequest): Answer {
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

  /** Gives up deliveries under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.deliveries);
  }

  private create({ body, headers }: PaymentRequest): Answer {
    const { idempotencyKey = trialId('idem') } = headers;
    const known = this.sessions.get(this.sessionsByKey.get(idempotencyKey) ?? '');
    if (known !== undefined) return { status: 200, body: known };
    const form = nestedForm(body);
    const [success, cancel] = [textAt(form, 'success_url') ?? '', textAt(form, 'cancel_url') ?? ''];
    const amount = Number(textAt(form, 'line_items', '0', 'price_data', 'unit_amount'));
    const currency = textAt(form, 'line_items', '0', 'price_data', 'currency') ?? '';
    if (textAt(form, 'mode') !== 'payment') return refusal(400, 'Only mode=payment is simulated', 'mode');
    if (!isWebAddress(success)) return refusal(400, 'Not a valid URL', 'success_url');
    if (!isWebAddress(cancel)) return refusal(400, 'Not a valid URL', 'cancel_url');
    if (!Number.isSafeInteger(amount) || amount < 50 || !/^[a-z]{3}$/.test(currency)) {
      return refusal(400, 'One item with price_data is simulated, of at least 50 cents', 'line_items');
    }
    const id = trialId('cs_test');
    const session: TrialSession = {
      id,
      object: 'checkout.session',
      mode: 'payment',
      livemode: false,
      status: 'open',
      payment_status: 'unpaid',
      client_reference_id: textAt(form, 'client_reference_id') ?? null,
      customer_email: textAt(form, 'customer_email') ?? null,
      metadata: textsAt(form, 'metadata'),
      payment_intent: null,
      currency,
      amount_subtotal: amount,
      amount_total: amount,
      automatic_tax: { enabled: false, status: null },
      created: this.seconds(),
      url: `${this.origin}/checkout/${id}`,
      success_url: success,
      cancel_url: cancel,
    };
    this.sessions.set(id, session);
    this.sessionsByKey.set(idempotencyKey, id);
    forgetOldest(this.sessions);
    forgetOldest(this.sessionsByKey);
    return { status: 200, body: session };
  }

  private page({ method, path }: PaymentRequest): Answer {
    const [, id = '', action] = PAGE.exec(path) ?? [];
    const session = this.sessions.get(id);
    if (session === undefined) {
      return trialPage(404, 'This trial checkout is gone', 'It was lost when the simulator stopped. Begin again.');
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
    if (session.status === 'complete') this.emit('charge.refunded', chargeOf(session, session.amount_total));
  }

  private emit(type: string, object: object): void {
    const id = trialId('evt');
    const event: TrialEvent = { id, object: 'event', type, livemode: false, created: this.seconds(), data: { object } };
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
