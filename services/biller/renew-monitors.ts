import { MONITOR_PERIOD_CREDITS, periodReference } from '../../shared/domain/accounts/credits.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { chargeTogether } from '../../shared/stores/ledger/ledger.ts';
import {
  lockDueMonitors,
  lockPayingAccounts,
  readDueMonitors,
  startNextPeriods,
  stopUnpaidMonitors,
} from '../../shared/stores/monitors/renewals.ts';
import { decideRenewals } from './decide-renewals.ts';

/** Numbers of monitors by outcome. */
export interface RenewedBatch {
  renewed: number;
  /** Stopped because the balance does not cover them. */
  paused_balance: number;
  /** Stopped because their account is frozen or deleted. */
  paused: number;
}

type Due = Awaited<ReturnType<typeof readDueMonitors>>[number];

/**
 * Renews or stops the given monitors in one transaction. Monitors that are no longer due, or that another process has
 * locked, are skipped. A crash or a repeat charges nothing twice: after a commit none of them is due any more, and
 * without a commit nothing changed.
 */
export function renewMonitors(pool: Pool, ids: readonly string[]): Promise<RenewedBatch> {
  return inTransaction(pool, async (client) => {
    // 1. Lock in the order of the service: monitors by id, then accounts by id. Test again what was read before.
    const due = await readDueMonitors(client, await lockDueMonitors(client, ids));
    if (due.length === 0) return { renewed: 0, paused_balance: 0, paused: 0 };
    const accounts = await lockPayingAccounts(client, [...new Set(due.map(({ accountId }) => accountId))]);
    // 2. Decide which monitors their accounts can pay for.
    const { renewed, stopped } = decideRenewals(due, accounts);
    // 3. Charge and start the next periods in the same commit, which also stops the unpaid monitors.
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

/** The accounts are locked and cover the charges, so a missing charge is a bug here and rolls back the batch. */
async function chargeAll(db: Queryable, renewed: readonly Due[]): Promise<void> {
  const moves = renewed.map(({ id, accountId, periodNo }) => ({
    accountId,
    kind: 'monitor_renewal' as const,
    credits: MONITOR_PERIOD_CREDITS,
    reference: periodReference(id, periodNo + 1),
  }));
  const balances = await chargeTogether(db, moves);
  const missing = balances.findIndex((balance) => balance === undefined);
  if (missing >= 0) throw new Error(`the renewal ${moves[missing]!.reference} was not charged`);
}
