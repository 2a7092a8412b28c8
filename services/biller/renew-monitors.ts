import { MONITOR_PERIOD_CREDITS, periodReference } from '../../shared/domain/accounts/credits.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { chargeTogether } from '../../shared/stores/accounts/ledger.ts';
import {
  lockDueMonitors,
  lockPayingAccounts,
  readDueMonitors,
  startNextPeriods,
  stopUnpaidMonitors,
} from '../../shared/stores/monitors/renewals.ts';
import { decideRenewals } from './decide-renewals.ts';

/** What became of the monitors of one batch. */
export interface RenewedBatch {
  renewed: number;
  /** For want of credits. */
  paused_balance: number;
  /** Because their account is frozen or deleted. */
  paused: number;
}

type Due = Awaited<ReturnType<typeof readDueMonitors>>[number];

/**
 * Renews or stops monitors that were due a moment ago, in one transaction; those that are not any more, or that another
 * process holds, are left alone. Repeating it, or dying at any point, charges nothing twice: either all of it is
 * committed, and nothing of it is due any more, or nothing.
 */
export function renewMonitors(pool: Pool, ids: readonly string[]): Promise<RenewedBatch> {
  return inTransaction(pool, async (client) => {
    // 1. The locks, in the one order of the service: monitors by id, then accounts by id. What was read before is
    // tested again.
    const due = await readDueMonitors(client, await lockDueMonitors(client, ids));
    if (due.length === 0) return { renewed: 0, paused_balance: 0, paused: 0 };
    const accounts = await lockPayingAccounts(client, [...new Set(due.map(({ account_id }) => account_id))]);
    // 2. Who can pay.
    const { renewed, stopped } = decideRenewals(due, accounts);
    // 3. Money and time together; matching stops with the same commit.
    if (renewed.length > 0) {
      await chargeAll(client, renewed);
      await startNextPeriods(
        client,
        renewed.map(({ id }) => id),
      );
    }
    if (stopped.length > 0) await stopUnpaidMonitors(client, stopped);
    const unpaid = stopped.filter(({ status }) => status === 'paused_balance').length;
    return { renewed: renewed.length, paused_balance: unpaid, paused: stopped.length - unpaid };
  });
}

/** The accounts are locked and cover it: a charge that is not made is a fault of ours, and undoes the batch. */
async function chargeAll(db: Queryable, renewed: readonly Due[]): Promise<void> {
  const moves = renewed.map(({ id, account_id, period_no }) => ({
    accountId: account_id,
    kind: 'monitor_renewal' as const,
    credits: MONITOR_PERIOD_CREDITS,
    reference: periodReference(id, period_no + 1),
  }));
  const balances = await chargeTogether(db, moves);
  const missing = balances.findIndex((balance) => balance === undefined);
  if (missing >= 0) throw new Error(`the renewal ${moves[missing]!.reference} was not charged`);
}
