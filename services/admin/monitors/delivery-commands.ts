import { matchId } from '../../../shared/domain/identifiers.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { listDeliveries } from '../../../shared/stores/deliveries/administered-deliveries.ts';
import type { DeliveryFilter } from '../../../shared/stores/deliveries/administered-deliveries.ts';
import { listMonitors } from '../../../shared/stores/monitors/monitors.ts';
import { accountOption, requireAccount, ACCOUNT_OPTIONS } from '../accounts/account-choice.ts';
import { AdminError } from '../admin-error.ts';
import type { OptionValues, PostgresCommand } from '../command.ts';
import { limitOption } from '../limit-option.ts';
import { monitorOption, requireMonitor, MONITOR_OPTIONS } from './monitor-choice.ts';
import { printedRow } from '../printed-row.ts';

const DEFAULT_LISTED = 100;
const MAX_LISTED = 10_000;

const LIST_HELP = [
  '--monitor MONITOR_ID   only those of this monitor,',
  '--email ADDRESS        or of the monitors of this account,',
  '--account ACCOUNT_ID   or of the account with this id',
  `--limit N              how many lines at most, default ${DEFAULT_LISTED}`,
];
const LIST_OPTIONS = { ...MONITOR_OPTIONS, ...ACCOUNT_OPTIONS, limit: { type: 'string' } } as const;

export const DELIVERIES_PENDING: PostgresCommand = {
  name: 'deliveries pending',
  summary: 'print the deliveries that wait for their first or next attempt, with the outcome of the last one',
  optionsHelp: LIST_HELP,
  examples: ['deliveries pending', 'deliveries pending --email a@example.com --json'],
  options: LIST_OPTIONS,
  isList: true,
  prepare(values) {
    const choose = chosenMonitors(values);
    const limit = limitOption(values, DEFAULT_LISTED, MAX_LISTED);
    return async (pool) => deliveries(pool, { status: 'pending', monitorIds: await choose?.(pool), limit });
  },
};

export const DELIVERIES_FAILED: PostgresCommand = {
  name: 'deliveries failed',
  summary: 'print the deliveries of a monitor or an account that were given up in the last 30 days',
  optionsHelp: LIST_HELP,
  examples: ['deliveries failed --monitor mon_1a2b3c4d5e6f'],
  options: LIST_OPTIONS,
  isList: true,
  prepare(values) {
    const choose = chosenMonitors(values);
    if (choose === undefined) throw new AdminError('--monitor, --email or --account is required.');
    const limit = limitOption(values, DEFAULT_LISTED, MAX_LISTED);
    return async (pool) => deliveries(pool, { status: 'failed', monitorIds: await choose(pool), limit });
  },
};

/** How to find the monitors that the options name; undefined when they name none. */
export function chosenMonitors(values: OptionValues): ((pool: Pool) => Promise<string[]>) | undefined {
  const { monitor, email, account } = values;
  const named = email === undefined && account === undefined ? undefined : accountOption(values);
  if (monitor !== undefined) {
    if (named !== undefined) throw new AdminError(`Give --monitor or ${named.option}, not both.`);
    const id = monitorOption(values);
    return async (pool) => [(await requireMonitor(pool, id)).monitor.id];
  }
  if (named === undefined) return undefined;
  return async (pool) => {
    const monitors = await listMonitors(pool, (await requireAccount(pool, named)).id);
    return monitors.map(({ id }) => id);
  };
}

async function deliveries(pool: Pool, filter: DeliveryFilter): Promise<object[]> {
  const listed = await listDeliveries(pool, filter);
  return listed.map(({ seq, ...delivery }) => ({
    match_id: matchId(delivery.monitorId, seq),
    ...printedRow(delivery),
  }));
}
