import { inTransaction } from '../../shared/postgres/pool.ts';
import { lockAccount } from '../../shared/accounts/accounts.ts';
import { refundPack } from '../../shared/billing/packs.ts';
import type { PaymentMode, PaymentWithoutMoney } from '../../shared/billing/payments.ts';
import { listPaymentsWithoutMoney, markVoided } from '../../shared/billing/payments.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

const PAYMENTS_PER_PAGE = 100;

type VoidDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & Continuing;

/**
 * The purchases that lose their credits in an installation: those of the simulator as soon as it has a real forum or a
 * key of the payment provider, and those of a test key as soon as it has a live one.
 */
export function modesToVoid(installation: {
  mode: PaymentMode | undefined;
  hasSimulatedForum: boolean;
}): ('trial' | 'test')[] {
  const { mode, hasSimulatedForum } = installation;
  if (mode === 'live') return ['trial', 'test'];
  if (mode === 'trial') return [];
  return mode === 'test' || !hasSimulatedForum ? ['trial'] : [];
}

/** Takes the credits and the limits of purchases without money back, each once. */
export async function voidPayments(options: VoidDeps, modes: readonly ('trial' | 'test')[]): Promise<void> {
  const { pool, mayContinue } = options;
  if (modes.length === 0) return;
  while (await mayContinue()) {
    const payments = await listPaymentsWithoutMoney(pool, modes, PAYMENTS_PER_PAGE);
    for (const payment of payments) await voidPayment(options, payment);
    if (payments.length < PAYMENTS_PER_PAGE) return;
  }
}

async function voidPayment({ pool, metrics, logger }: VoidDeps, { id, accountId }: PaymentWithoutMoney): Promise<void> {
  const refunded = await inTransaction(pool, async (client) => {
    await lockAccount(client, accountId);
    return (await markVoided(client, id)) ? refundPack(client, id) : undefined;
  });
  // A checkout that was never paid took nothing.
  if (refunded === undefined) return;
  metrics.paymentsVoided.inc();
  const { taken, owed } = refunded;
  logger.warn({ payment_id: id, account_id: accountId, taken, owed }, 'a purchase without money was taken back');
}
