import { isMonitorId } from '../../../shared/domain/identifiers.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findMonitorOwner } from '../../../shared/stores/monitors/administered-monitors.ts';
import { lockMonitor, readMonitor } from '../../../shared/stores/monitors/monitors.ts';
import type { StoredMonitor } from '../../../shared/stores/monitors/monitors.ts';
import { AdminError } from '../command.ts';
import type { Command, OptionValues } from '../command.ts';

/** The option that names a monitor. */
export const MONITOR_OPTIONS: Command['options'] = { monitor: { type: 'string' } };
export const MONITOR_HELP = ['--monitor MONITOR_ID   required'];

/** @throws AdminError unless --monitor is given and well-formed */
export function monitorOption({ monitor }: OptionValues): string {
  if (monitor === undefined) throw new AdminError('--monitor is required.');
  if (!isMonitorId(monitor))
    throw new AdminError('--monitor: must be the id of a monitor: mon_ and 12 letters and digits.');
  return monitor;
}

/** A monitor and the account that it belongs to. */
export interface OwnedMonitor {
  accountId: string;
  monitor: StoredMonitor;
}

/** @throws AdminError when there is no such monitor, or it is deleted */
export async function requireMonitor(db: Queryable, id: string): Promise<OwnedMonitor> {
  const accountId = await findMonitorOwner(db, id);
  const monitor = accountId === undefined ? undefined : await readMonitor(db, accountId, id);
  if (accountId === undefined || !monitor) throw new AdminError(`--monitor: there is no monitor ${id}.`);
  if (monitor.status === 'deleted') throw new AdminError(`--monitor: ${id} is deleted.`);
  return { accountId, monitor };
}

/** As requireMonitor, with the monitor's lock until the transaction ends. */
export async function requireLockedMonitor(db: Queryable, id: string): Promise<OwnedMonitor> {
  const { accountId } = await requireMonitor(db, id);
  await lockMonitor(db, accountId, id);
  return requireMonitor(db, id);
}
