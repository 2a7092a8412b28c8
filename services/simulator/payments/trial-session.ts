import { randomBytes } from 'node:crypto';

/** A checkout session in the shape of Stripe's API, with the members that this service and its readers use. */
export interface TrialSession {
  id: string;
  object: 'checkout.session';
  mode: 'payment';
  livemode: false;
  status: 'open' | 'complete';
  payment_status: 'unpaid' | 'paid';
  client_reference_id: string | null;
  customer_email: string | null;
  metadata: Record<string, string>;
  payment_intent: string | null;
  currency: string;
  amount_subtotal: number;
  amount_total: number;
  automatic_tax: { enabled: false; status: null };
  /** Seconds since the epoch. */
  created: number;
  url: string;
  success_url: string;
  cancel_url: string;
}

/** An event in the shape of Stripe's API. */
export interface TrialEvent {
  id: string;
  object: 'event';
  type: string;
  livemode: false;
  /** Seconds since the epoch. */
  created: number;
  data: { object: object };
}

/** An id with Stripe's prefix. */
export function trialId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** The charge of a paid session, as Stripe describes it after refunds of that sum. */
export function chargeOf(session: TrialSession, refunded: number): object {
  return {
    id: `ch_${session.payment_intent?.slice(3)}`,
    object: 'charge',
    livemode: false,
    payment_intent: session.payment_intent,
    amount: session.amount_total,
    amount_refunded: refunded,
    refunded: refunded === session.amount_total,
    currency: session.currency,
    metadata: session.metadata,
  };
}
