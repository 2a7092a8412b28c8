import type { PaymentHistory } from '../samples/payment-histories.ts';

/** What the credits of an account must be, by what was really paid and returned. */
export interface PaidCredits {
  /** Credits of its packs less those that were taken back. */
  credits: number;
  /** The largest pack that is not wholly taken back. */
  pack: number;
}

/**
 * What the genuine events say, as a set: neither their order nor their number counts. Written without the code under
 * test.
 */
export function paidCredits(histories: readonly PaymentHistory[], isKnown: (eventId: string) => boolean): PaidCredits {
  let [credits, largest] = [0, 0];
  for (const { payment, genuine } of histories) {
    const known = genuine.filter(({ id }) => isKnown(id)).map(({ data }) => data.object as Record<string, unknown>);
    if (!known.some((object) => object.payment_status === 'paid')) continue;
    const refunded = Math.max(0, ...known.map((object) => Number(object.amount_refunded ?? 0)));
    const disputes = known.filter(
      ({ object, status }) => object === 'dispute' && !String(status).startsWith('warning'),
    );
    const won = new Set(disputes.filter(({ status }) => status === 'won').map(({ id }) => id));
    const isDisputed = disputes.some(({ id }) => !won.has(id));
    const kept = isDisputed ? 0 : Math.ceil((payment.credits * (payment.amount - refunded)) / payment.amount);
    credits += kept;
    if (kept > 0) largest = Math.max(largest, payment.pack);
  }
  return { credits, pack: largest };
}
