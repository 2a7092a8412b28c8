import { creditsToTakeBack } from '../domain/accounts/credits-to-take-back.ts';
import type { Queryable } from '../postgres/pool.ts';
import { setCreditsTakenBack } from '../stores/accounts/packs.ts';
import { readReturnedMoney } from '../stores/payments/payment-charges.ts';
import type { StoredPayment } from '../stores/payments/payments.ts';

/**
 * Takes back as many credits of a paid pack as everything known of its refunds and disputes says, or returns some. The
 * result depends on what is known, not on the order in which it arrived, so repeating it changes nothing. Requires the
 * charge's lock, in a transaction.
 *
 * @returns the change of the credits that are taken back: negative when some were returned
 */
export async function settlePack(db: Queryable, { id, credits }: StoredPayment): Promise<number> {
  const money = await readReturnedMoney(db, id);
  return money === undefined ? 0 : setCreditsTakenBack(db, id, creditsToTakeBack(credits, money));
}
