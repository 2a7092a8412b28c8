import type { DueMonitor } from '../../shared/stores/monitors/renewals.ts';
import { listDueMonitors } from '../../shared/stores/monitors/renewals.ts';
import type { BillerDeps } from './biller-deps.ts';
import { renewMonitors } from './renew-monitors.ts';

/** Read at once, so that several billers find batches that the others do not hold. */
const LISTED_MONITORS = 8_000;
const BATCH = 1_000;

export type RenewalPassDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & {
  /** Ends the pass after the batch in hand. */
  signal: AbortSignal;
  /** Monitors a transaction; default 1,000. */
  batchSize?: number;
};

/**
 * Renews or stops the monitors that are due now, the oldest ones first, batch by batch. Any number of processes may do
 * so at once.
 *
 * @returns how many this process decided; 0: nothing is due, or others are at it
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
 * Cuts the list into batches of about `size` that keep an account's monitors together: two billers with different
 * batches never wait for each other's accounts.
 */
function batchesByAccount(monitors: readonly DueMonitor[], size: number): string[][] {
  const batches: string[][] = [[]];
  let account: string | undefined;
  for (const { id, account_id } of monitors) {
    if (account_id !== account && batches.at(-1)!.length >= size) batches.push([]);
    account = account_id;
    batches.at(-1)!.push(id);
  }
  return batches;
}
