import type { Monitor } from '../../../schemas/api/monitors.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../shared/billing/rules/plans.ts';
import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { deleteFeedToken } from '../../../shared/matches/feed-tokens.ts';
import { announceMonitorChange, lockMonitor, readMonitor, stopMonitor } from '../../../shared/monitors/monitors.ts';
import type { StoredMonitor } from '../../../shared/monitors/monitors.ts';
import { startPaidPeriod } from '../../../shared/billing/renewals.ts';
import { accountFrozen } from '../admission/caller.ts';
import { ApiError, noSuchMonitor } from '../http/api-error.ts';
import { chargedRequest } from '../http/route.ts';
import type { RouteRequest } from '../http/route.ts';
import { findAndLockMonitor, findMonitor } from './find-monitor.ts';
import { monitorResource } from './monitor-resource.ts';

// active ── pause ──▶ paused ── resume (10 credits) ──▶ active
// active ── renewal without credits (biller) ──▶ paused_balance ── resume (10 credits) ──▶ active; ── pause ──▶ paused
// any of them ── delete ──▶ deleted, for good
// Matching and charging stop when a pause or delete commits; the day already paid for is not refunded.

/** Pauses a monitor; repeating it changes nothing. @throws ApiError not_found */
export async function pauseMonitor(pool: Pool, accountId: string, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const current = await findAndLockMonitor(client, accountId, id);
    if (current.status === 'paused') return;
    await stopMonitor(client, id, 'paused');
    await announceMonitorChange(client, id);
  });
}

/**
 * Deletes a monitor for good, but softly: its matches stay until their retention ends. Repeating it is harmless.
 *
 * @throws ApiError not_found
 */
export async function deleteMonitor(pool: Pool, accountId: string, id: string): Promise<void> {
  if (!isMonitorId(id)) throw noSuchMonitor();
  await inTransaction(pool, async (client) => {
    // The lock row of a monitor deleted long ago may have been removed with its matches; then there is nothing to do.
    await lockMonitor(client, accountId, id);
    const current = await readMonitor(client, accountId, id);
    if (!current) throw noSuchMonitor();
    if (current.status === 'deleted') return;
    await stopMonitor(client, id, 'deleted');
    await deleteFeedToken(client, id);
    await announceMonitorChange(client, id);
  });
}

export interface ResumedMonitor {
  monitor: Monitor;
  /** undefined: the monitor was already running and nothing was charged. */
  balance: number | undefined;
}

/**
 * Starts a stopped monitor and charges its next 24 hours in the transaction of `client`, both or neither. A running
 * monitor stays unchanged.
 *
 * @throws ApiError not_found, insufficient_credits, unauthorized; roll the transaction back then
 */
export async function resumeMonitor(
  client: Queryable,
  call: Pick<RouteRequest, 'caller' | 'requestId'>,
  id: string,
): Promise<ResumedMonitor> {
  const { accountId } = call.caller;
  const current = await findAndLockMonitor(client, accountId, id);
  if (current.status === 'active') return { monitor: monitorResource(current), balance: undefined };
  const balance = await payAndStart(client, call, current);
  await announceMonitorChange(client, id);
  return { monitor: monitorResource(await findMonitor(client, accountId, id)), balance };
}

async function payAndStart(
  db: Queryable,
  call: Pick<RouteRequest, 'caller' | 'requestId'>,
  current: StoredMonitor,
): Promise<number> {
  const { accountId } = call.caller;
  const request = chargedRequest(call, { method: 'post', path: '/v1/monitors/:id/resume' });
  const balance = await startPaidPeriod(db, accountId, current, request);
  if (balance === undefined) {
    const account = await findAccount(db, accountId);
    if (account?.status === 'frozen') throw accountFrozen();
    if (account?.status !== 'active') throw new ApiError('unauthorized', 'The account is not active any more.');
    throw new ApiError('insufficient_credits', `Resuming a monitor costs ${MONITOR_PERIOD_CREDITS} credits.`);
  }
  return balance;
}
