import type { Logger } from '../runtime/logger.ts';
import type { Applied } from './apply-session.ts';

/** What an operator must look at, and why. */
const CONCERNS: Partial<Record<Applied['outcome'], string>> = {
  unknown: 'a payment event belongs to no payment of this service; nothing was credited',
  mismatched: 'a payment event does not fit its payment; nothing was credited',
  unclaimed: 'a payment arrived for a deleted account; nothing was credited: refund it',
};

/** Repeated events and those of other products; the metric counts them. */
const UNLOGGED: ReadonlySet<Applied['outcome']> = new Set(['repeated', 'ignored']);

/** Logs one line for each event or session that had an effect, or that needs an operator. */
export function logApplied(logger: Logger, applied: Applied, fields: Record<string, string>): void {
  const { outcome, paymentId, accountId, credits } = applied;
  if (UNLOGGED.has(outcome)) return;
  const line = { ...fields, outcome, payment_id: paymentId, account_id: accountId, credits };
  const concern = CONCERNS[outcome];
  // The same Stripe account may sell other things, whose sessions name no payment.
  const isForeign = outcome === 'unknown' && paymentId === undefined;
  if (concern === undefined || isForeign) logger.info(line, concern ?? 'a payment event was handled');
  else logger.warn(line, concern);
}
