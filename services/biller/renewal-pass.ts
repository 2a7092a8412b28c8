import { MONITOR_PERIOD_CREDITS, periodReference } from '../../shared/billing/rules/plans.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { chargeTogether } from '../../shared/billing/ledger.ts';
import { stopMonitors } from '../../shared/monitors/monitors.ts';
import type { StoppedMonitor } from '../../shared/monitors/monitors.ts';
import {
  listDueMonitors,
  lockDueMonitors,
  lockPayingAccounts,
  readDueMonitors,
  startNextPeriods,
} from '../../shared/billing/renewals.ts';
import type { DueMonitor, PayingAccount } from '../../shared/billing/renewals.ts';
import type { BillerDeps } from './start-biller.ts';

/**
 * Due monitors read per pass, more than one batch, so that each of several billers finds batches that are not locked.
 */
const LISTED_MONITORS = 8_000;
const BATCH = 1_000;

export type RenewalPassDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & {
  /** Ends the pass after the current batch. */
  signal: AbortSignal;
  /** Monitors per transaction; default 1,000. */
  batchSize?: number;
};

/**
 * Renews or stops the monitors that are due now, the oldest first, in batches. Any number of processes may run it at
 * the same time.
 *
 * @returns how many monitors this process renewed or stopped; 0 when none is due or others have locked them
 */
export async function runRenewalPass(options: RenewalPassDeps): Promise<number> {
  const { pool, metrics, logger, signal, batchSize = BATCH } = options;
  const { monitors, lateSeconds } = await listDueMonitors(pool, LISTED_MONITORS);
  metrics.renewalLag.set(lateSeconds);
  let decided = 0;
  for (const ids of batchesByAccount(monitors, batchSize)) {
    if (signal.aborted) break;
    const begun = performance.now();
    const outcome = await renewMonitors(pool, ids);
    const count = outcome.renewed + outcome.paused_balance + outcome.paused;
    if (count === 0) continue;
    decided += count;
    metrics.renewals.inc({ outcome: 'renewed' }, outcome.renewed);
    metrics.renewals.inc({ outcome: 'paused_balance' }, outcome.paused_balance);
    metrics.renewals.inc({ outcome: 'paused' }, outcome.paused);
    const ms = Math.round(performance.now() - begun);
    logger.info({ ...outcome, late_seconds: Math.round(lateSeconds), ms }, 'monitors renewed');
  }
  return decided;
}

/**
 * Splits the list into batches of about `size` and keeps the monitors of an account together, so that two billers with
 * different batches never wait for each other's account locks.
 */
function batchesByAccount(monitors: readonly DueMonitor[], size: number): string[][] {
  const batches: string[][] = [];
  let account: string | undefined;
  for (const { id, accountId } of monitors) {
    const last = batches.at(-1);
    if (last === undefined || (accountId !== account && last.length >= size)) batches.push([id]);
    else last.push(id);
    account = accountId;
  }
  return batches;
}

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
    if (stopped.length > 0) await stopMonitors(client, stopped);
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

/**
 * Decides which due monitors are renewed and which stop. Each account pays for its monitors in id order while its
 * balance covers them; the others stop. An account that is not active pays for none.
 */
function decideRenewals(due: readonly Due[], accounts: readonly PayingAccount[]) {
  const renewed: Due[] = [];
  const stopped: StoppedMonitor[] = [];
  const byAccount = Map.groupBy(due, ({ accountId }) => accountId);
  for (const account of accounts) {
    const monitors = (byAccount.get(account.id) ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const isActive = account.status === 'active';
    const covered = isActive ? Math.floor(account.balance / MONITOR_PERIOD_CREDITS) : 0;
    renewed.push(...monitors.slice(0, covered));
    for (const { id } of monitors.slice(covered)) {
      stopped.push({ id, status: isActive ? 'paused_balance' : 'paused' });
    }
  }
  return { renewed, stopped };
}
