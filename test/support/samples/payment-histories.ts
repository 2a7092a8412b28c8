import { chargeOf, disputeOf, eventOf, sessionOf } from './stripe-events.ts';
import type { StartedPayment } from './stripe-events.ts';

export type SampleEvent = ReturnType<typeof eventOf>;

/** What happened to a payment at the provider, and what is said of it that does not fit. */
export interface PaymentHistory {
  payment: StartedPayment;
  genuine: SampleEvent[];
  /** Signed like all others, but about another account, amount or currency. */
  misfits: SampleEvent[];
}

type Random = () => number;

/** A random history of a payment. @param other another account */
export function paymentHistory(payment: StartedPayment, other: string, random: Random): PaymentHistory {
  const { events, isPaid } = checkoutEvents(payment, random());
  const genuine = isPaid ? [...events, ...refundEvents(payment, random), ...disputeEvents(payment, random)] : events;
  return { payment, genuine, misfits: misfitEvents(payment, other, random) };
}

function checkoutEvents(payment: StartedPayment, draw: number): { events: SampleEvent[]; isPaid: boolean } {
  const session = (type: string, overrides = {}) => eventOf(`checkout.session.${type}`, sessionOf(payment, overrides));
  const unpaid = { payment_status: 'unpaid' };
  const late = () => [session('completed', unpaid), session('async_payment_succeeded')];
  if (draw < 0.65) return { events: [session('completed')], isPaid: true };
  if (draw < 0.8) return { events: late(), isPaid: true };
  if (draw < 0.85) return { events: [session('completed'), session('expired', unpaid)], isPaid: true };
  if (draw < 0.9)
    return { events: [session('completed', unpaid), session('async_payment_failed', unpaid)], isPaid: false };
  if (draw < 0.95) return { events: [session('expired', unpaid)], isPaid: false };
  return { events: [session('completed', { payment_status: 'no_payment_required', amount_total: 0 })], isPaid: false };
}

/** Up to three refunds, each with the sum so far; the last may complete the price. */
function refundEvents(payment: StartedPayment, random: Random): SampleEvent[] {
  const events: SampleEvent[] = [];
  let sum = 0;
  while (random() < 0.4 && events.length < 3 && sum < payment.amount) {
    sum = random() < 0.3 ? payment.amount : sum + Math.ceil(random() * (payment.amount - sum));
    events.push(eventOf('charge.refunded', chargeOf(payment, sum)));
  }
  return events;
}

function disputeEvents(payment: StartedPayment, random: Random): SampleEvent[] {
  const event = (type: string, status: string, number: number) =>
    eventOf(`charge.dispute.${type}`, disputeOf(payment, status, number));
  const events: SampleEvent[] = [];
  if (random() < 0.1) events.push(event('created', 'warning_needs_response', 9), event('closed', 'warning_closed', 9));
  for (let number = 1; number <= 2 && random() < 0.25; number++) {
    events.push(event('created', 'needs_response', number), event('funds_withdrawn', 'needs_response', number));
    if (random() < 0.8) events.push(event('closed', random() < 0.6 ? 'won' : 'lost', number));
  }
  return events;
}

function misfitEvents(payment: StartedPayment, other: string, random: Random): SampleEvent[] {
  const misfits = [
    { client_reference_id: other },
    { amount_subtotal: 50, amount_total: 50 },
    { amount_total: payment.amount - 1 },
    { currency: 'jpy' },
    { metadata: { payment_id: 'pay_00000000000000000000' } },
    { livemode: true },
  ];
  return misfits
    .filter(() => random() < 0.25)
    .map((misfit) => eventOf('checkout.session.completed', sessionOf(payment, misfit)));
}
