import type { DueMonitor } from '../../shared/stores/monitors/renewals.ts';
import { listDueMonitors } from '../../shared/stores/monitors/renewals.ts';
import type { BillerDeps } from './biller-deps.ts';
import { renewMonitors } from './renew-monitors.ts';

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
