import { MONITOR_PERIOD_CREDITS, periodReference } from './rules/credits.ts';
import type { Queryable } from '../postgres/pool.ts';
import { charge } from './ledger.ts';
import type { ChargedRequest } from './ledger.ts';
import { startMonitorPeriod } from '../monitors/monitors.ts';
import type { StoredMonitor } from '../monitors/monitors.ts';

/**
 * Starts a stopped monitor and charges its next 24 hours, both or neither. Requires the monitor's lock.
 *
 * @returns the balance afterwards; undefined when it does not cover the charge or the account is not active: roll the
 * transaction back then
 */
export async function startPaidPeriod(
  db: Queryable,
  accountId: string,
  stopped: Pick<StoredMonitor, 'id' | 'periodNo'>,
  /** undefined: not a request of the API. */
  request?: ChargedRequest,
): Promise<number | undefined> {
  const periodNo = stopped.periodNo + 1;
  await startMonitorPeriod(db, stopped.id, periodNo);
  return charge(db, {
    accountId,
    kind: 'monitor_resume',
    credits: MONITOR_PERIOD_CREDITS,
    reference: periodReference(stopped.id, periodNo),
    request,
  });
}
