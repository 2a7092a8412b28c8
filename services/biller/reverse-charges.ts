import { inTransaction } from '../../shared/postgres/pool.ts';
import { listReversible, reverseCharge } from '../../shared/stores/ledger/unknown-charges.ts';
import type { BillerDeps } from './biller-deps.ts';

const MOST_AT_ONCE = 100;

/**
 * Reverses charges whose requests were answered 503, because their commit got no answer, and which took effect. Each is
 * reversed once, in a transaction of its own, however many billers run.
 *
 * @returns how many it found
 */
export async function reverseUnknownCharges({ pool, logger }: Pick<BillerDeps, 'pool' | 'logger'>): Promise<number> {
  const charges = await listReversible(pool, MOST_AT_ONCE);
  for (const charge of charges) {
    if (!(await inTransaction(pool, (client) => reverseCharge(client, charge)))) continue;
    logger.info(
      { account_id: charge.accountId, kind: charge.kind, reference: charge.reference },
      'a charge was reversed',
    );
  }
  return charges.length;
}
