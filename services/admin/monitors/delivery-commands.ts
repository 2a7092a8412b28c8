import { matchId } from '../../../shared/domain/identifiers.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import {
  listDeliveries,
  findMonitorsWithFailed,
  hastenDeliveries,
} from '../../../shared/stores/deliveries/administered-deliveries.ts';
import type { DeliveryFilter } from '../../../shared/stores/deliveries/administered-deliveries.ts';
import { listMonitors } from '../../../shared/stores/monitors/monitors.ts';
import { accountOption, requireAccount, ACCOUNT_OPTIONS } from '../accounts/account-choice.ts';
import { AdminError, integerOption, printedRow } from '../command.ts';
import type { OptionValues, PostgresCommand } from '../command.ts';
import { monitorOption, requireMonitor, MONITOR_OPTIONS, requireLockedMonitor } from './monitor-choice.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { queueResends } from '../../../shared/stores/deliveries/resends.ts';

const DEFAULT_LISTED = 100;
const MAX_LISTED = 10_000;

const LIST_HELP = [
  '--monitor MONITOR_ID   only those of this monitor,',
  '--email ADDRESS        or of the monitors of this account,',
  '--account ACCOUNT_ID   or of the account with this id',
  `--limit N              how many lines at most, default ${DEFAULT_LISTED}`,
];
const LIST_OPTIONS = { ...MONITOR_OPTIONS, ...ACCOUNT_OPTIONS, limit: { type: 'string' } } as const;

const DELIVERIES_PENDING: PostgresCommand = {
  name: 'deliveries pending',
  summary: 'print the deliveries that wait for their first or next attempt, with the outcome of the last one',
  optionsHelp: LIST_HELP,
  examples: ['deliveries pending', 'deliveries pending --email a@example.com --json'],
  options: LIST_OPTIONS,
  isList: true,
  prepare(values) {
    const choose = chosenMonitors(values);
    const limit = integerOption(values, 'limit', { max: MAX_LISTED, byDefault: DEFAULT_LISTED });
    return async (pool) => deliveries(pool, { status: 'pending', monitorIds: await choose?.(pool), limit });
  },
};

const DELIVERIES_FAILED: PostgresCommand = {
  name: 'deliveries failed',
  summary: 'print the deliveries of a monitor or an account that were given up in the last 30 days',
  optionsHelp: LIST_HELP,
  examples: ['deliveries failed --monitor mon_1a2b3c4d5e6f'],
  options: LIST_OPTIONS,
  isList: true,
  prepare(values) {
    const choose = chosenMonitors(values);
    if (choose === undefined) throw new AdminError('--monitor, --email or --account is required.');
    const limit = integerOption(values, 'limit', { max: MAX_LISTED, byDefault: DEFAULT_LISTED });
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

/** Matches in one transaction, which holds the monitor's lock for a fraction of a second. */
const MAX_PER_STEP = 5_000;
/** As resends of the owner: a receiver that was down does not get everything at once. */
const PACE_MS = 100;
/** Monitors whose matches one statement reads. */
const MONITORS_PER_STEP = 200;

const DELIVERIES_RETRY: PostgresCommand = {
  name: 'deliveries retry',
  summary: 'queue failed deliveries again, ten a second for each monitor',
  optionsHelp: [
    '--monitor MONITOR_ID   those of this monitor; those that wait are made due now, unless --failed is given',
    '--failed               only failed ones: of all monitors,',
    '--email ADDRESS        or of the monitors of this account,',
    '--account ACCOUNT_ID   or of the account with this id',
    '--since TIME           only matches recorded at this time or later, as 2026-03-04T05:06:07Z;',
    '                       required without --monitor',
  ],
  examples: [
    'deliveries retry --monitor mon_1a2b3c4d5e6f --since 2026-03-04T00:00:00Z',
    'deliveries retry --failed --since 2026-03-04T00:00:00Z',
  ],
  options: { ...MONITOR_OPTIONS, ...ACCOUNT_OPTIONS, failed: { type: 'boolean' }, since: { type: 'string' } },
  prepare(values) {
    const since = sinceOption(values);
    if (values.failed !== undefined) return retryFailed(values, since);
    if (values.email !== undefined || values.account !== undefined) {
      throw new AdminError('--email and --account need --failed.');
    }
    const id = monitorOption(values);
    return (pool) => retryMonitor(pool, id, since);
  },
};

async function retryMonitor(pool: Pool, id: string, since: Date | undefined): Promise<object[]> {
  await requireWebhook(pool, id);
  const hastened = await inTransaction(pool, async (client) => {
    await requireLockedMonitor(client, id);
    return hastenDeliveries(client, id);
  });
  return [{ monitor_id: id, queued: await queueFailed(pool, id, since), hastened }];
}

function retryFailed(values: OptionValues, since: Date | undefined): (pool: Pool) => Promise<AsyncIterable<object>> {
  const choose = chosenMonitors(values);
  if (values.monitor === undefined && since === undefined) {
    throw new AdminError('--since is required with --failed, unless --monitor is given.');
  }
  return async (pool) => {
    if (values.monitor !== undefined) await requireWebhook(pool, values.monitor);
    return queueAll(pool, await choose?.(pool), since ?? new Date(0));
  };
}

/** A line for each monitor that has some, and the sum. @param chosen undefined: all monitors */
async function* queueAll(pool: Pool, chosen: string[] | undefined, since: Date): AsyncIterable<object> {
  const total = { monitors: 0, queued: 0 };
  for await (const id of withFailed(pool, chosen, since)) {
    const queued = await queueUnlessGone(pool, id, since);
    if (queued === 0) continue;
    total.monitors += 1;
    total.queued += queued;
    yield { monitor_id: id, queued };
  }
  yield total;
}

async function* withFailed(pool: Pool, chosen: string[] | undefined, since: Date): AsyncIterable<string> {
  if (chosen !== undefined) {
    yield* chosen;
    return;
  }
  for (let lastId: string | undefined = ''; lastId !== undefined;) {
    const found = await findMonitorsWithFailed(pool, lastId, { since, limit: MONITORS_PER_STEP });
    yield* found.monitorIds;
    lastId = found.lastId;
  }
}

/** Meanwhile the monitor, or its webhook, may be deleted. */
async function queueUnlessGone(pool: Pool, id: string, since: Date): Promise<number> {
  try {
    await requireWebhook(pool, id);
    return await queueFailed(pool, id, since);
  } catch (error) {
    if (error instanceof AdminError) return 0;
    throw error;
  }
}

/** In steps, so that the recorder is not kept waiting. Queued matches are pending: repeating it is harmless. */
async function queueFailed(pool: Pool, id: string, since: Date | undefined): Promise<number> {
  for (let queued = 0; ;) {
    const step = await inTransaction(pool, async (client) => {
      await requireLockedMonitor(client, id);
      return queueResends(client, id, { statuses: ['failed'], since }, { limit: MAX_PER_STEP, paceMs: PACE_MS });
    });
    queued += step;
    if (step < MAX_PER_STEP) return queued;
  }
}

async function requireWebhook(pool: Pool, id: string): Promise<void> {
  const { monitor } = await requireMonitor(pool, id);
  if (monitor.webhookUrl === null) throw new AdminError(`--monitor: ${id} has no webhook.`);
}

function sinceOption({ since }: OptionValues): Date | undefined {
  if (since === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(since) ? new Date(since) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime())) throw new AdminError('--since: must be a time such as 2026-03-04T05:06:07Z.');
  return time;
}

export const COMMANDS = [DELIVERIES_PENDING, DELIVERIES_FAILED, DELIVERIES_RETRY];
