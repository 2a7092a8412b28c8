import type { StoredAccount } from '../accounts/accounts.ts';
import { startMonitorPeriod } from '../monitors/monitors.ts';
import type { StoredMonitor } from '../monitors/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';
import { charge } from './ledger.ts';
import type { ChargedRequest } from './ledger.ts';
import { MONITOR_PERIOD_CREDITS, periodReference } from './rules/plans.ts';

export interface DueMonitor {
  id: string;
  accountId: string;
}

/**
 * Lists up to `limit` monitors that are due, without a lock: accounts that have waited longest first, then by monitor
 * id. The due monitors of an account are together, so that one transaction can decide them; the last account may be
 * cut.
 *
 * @returns the monitors, and for how many seconds the oldest has been due (0 when none is)
 */
export async function listDueMonitors(
  db: Queryable,
  limit: number,
): Promise<{ monitors: DueMonitor[]; lateSeconds: number }> {
  const rows = await readRows<DueMonitor & { lateSeconds: number }>(db, 'renewals-list-due')`
    WITH oldest AS (
      SELECT account_id, next_charge_at
      FROM monitors
      WHERE status = 'active' AND next_charge_at <= (SELECT service_now())
      ORDER BY next_charge_at
      LIMIT ${limit}
    ), waiting AS MATERIALIZED (
      SELECT account_id, min(next_charge_at) AS since FROM oldest GROUP BY account_id
    )
    SELECT m.id, m.account_id AS "accountId",
      extract(epoch FROM (SELECT service_now()) - waiting.since)::float8 AS "lateSeconds"
    FROM waiting
    JOIN monitors m ON m.account_id = waiting.account_id
    WHERE m.status = 'active' AND m.next_charge_at <= (SELECT service_now())
    ORDER BY waiting.since, m.account_id, m.id
    LIMIT ${limit}`;
  return { monitors: rows.map(({ id, accountId }) => ({ id, accountId })), lateSeconds: rows[0]?.lateSeconds ?? 0 };
}

/**
 * Locks the monitors that appear due until the transaction ends, without waiting: monitors locked by others are
 * skipped, because their holder is renewing, stopping or recording them.
 */
export async function lockDueMonitors(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await readRows<{ monitor_id: string }>(db, 'renewals-lock-due')`
    SELECT c.monitor_id
    FROM monitor_counters c
    JOIN monitors m ON m.id = c.monitor_id
    WHERE c.monitor_id = ANY (${ids}) AND m.status = 'active' AND m.next_charge_at <= (SELECT service_now())
    ORDER BY c.monitor_id
    FOR UPDATE OF c SKIP LOCKED`;
  return rows.map(({ monitor_id }) => monitor_id);
}

/** Reads and locks those that are really due, by id. Run it in a separate statement after the lock. */
export async function readDueMonitors(
  db: Queryable,
  lockedIds: readonly string[],
): Promise<(DueMonitor & { periodNo: number })[]> {
  return readRows<DueMonitor & { periodNo: number }>(db, 'renewals-read-due')`
    SELECT id, account_id AS "accountId", period_no AS "periodNo"
    FROM monitors
    WHERE id = ANY (${lockedIds}) AND status = 'active' AND next_charge_at <= (SELECT service_now())
    ORDER BY id
    FOR NO KEY UPDATE`;
}

export type PayingAccount = Pick<StoredAccount, 'id' | 'status' | 'balance'>;

/** Locks accounts in the order of their ids until the transaction ends, and reads them in the same statement. */
export async function lockPayingAccounts(db: Queryable, ids: readonly string[]): Promise<PayingAccount[]> {
  return readRows<PayingAccount>(db, 'renewals-lock-accounts')`
    SELECT id, status, balance FROM accounts WHERE id = ANY (${ids}) ORDER BY id FOR UPDATE`;
}

/**
 * Begins the next period of locked monitors, in the transaction that charges it. The period ends at the same time of
 * day as the last one, within 24 hours from now: days on which no biller ran are not charged.
 */
export async function startNextPeriods(db: Queryable, ids: readonly string[]): Promise<void> {
  await execute(db, 'renewals-start-next-periods')`
    WITH moment AS MATERIALIZED (SELECT service_now() AS now)
    UPDATE monitors m
    SET period_no = m.period_no + 1,
        next_charge_at = m.next_charge_at + make_interval(hours => 24 * (
          1 + greatest(0, floor(extract(epoch FROM moment.now - m.next_charge_at) / 86400)::integer)))
    FROM moment
    WHERE m.id = ANY (${ids})`;
}

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
