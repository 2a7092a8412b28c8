import type { MonitorStatus } from '../../schemas/api/monitors.ts';
import { startPaidPeriod } from '../../shared/billing/renewals.ts';
import { MONITOR_PERIOD_CREDITS } from '../../shared/billing/rules/plans.ts';
import { findMonitorsWithFailed, listDeliveries } from '../../shared/deliveries/delivery-log.ts';
import type { DeliveryFilter } from '../../shared/deliveries/delivery-log.ts';
import { readDeliveryHealth } from '../../shared/deliveries/delivery-health.ts';
import { hastenPending, queueResends } from '../../shared/deliveries/resends.ts';
import { decideOutcome, WEBHOOK_DEADLINE_MS } from '../../shared/deliveries/rules/delivery-outcome.ts';
import { buildWebhookMessage, sampleMatch, webhookRequestUrl } from '../../shared/deliveries/rules/webhook-message.ts';
import { createEgressClient } from '../../shared/http/egress-client.ts';
import { createDnsLookup, createSystemLookup } from '../../shared/http/public-address.ts';
import { secretBoxOf } from '../../shared/maintenance/settings.ts';
import {
  findMonitorOwner,
  findMonitorsAhead,
  listAllMonitors,
  resetDay,
} from '../../shared/monitors/administered-monitors.ts';
import {
  announceMonitorChange,
  clearMonitorHealth,
  listMonitors,
  lockMonitor,
  readMonitor,
  readMonitorStats,
  readMonitorWebhook,
  stopMonitor,
} from '../../shared/monitors/monitors.ts';
import type { MonitorWebhook, StoredMonitor } from '../../shared/monitors/monitors.ts';
import { refinementsResource } from '../../shared/monitors/rules/print-rule-query.ts';
import { lockRecordingMonitors } from '../../shared/matches/recording.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { isMonitorId, matchId } from '../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { chosenAccount, withAccount } from './account-commands.ts';
import type { AccountOptions } from './account-commands.ts';
import { AdminError, examples, integer, oneOf, printedRow, requireSecretKeys, time } from './command.ts';
import type { AddCommands, Installation, Lines } from './command.ts';

const STATES: readonly MonitorStatus[] = ['active', 'paused', 'paused_balance', 'deleted'];
const MAX_LISTED = 10_000;

interface ListOptions extends AccountOptions {
  status?: MonitorStatus;
  failing?: boolean;
  after?: string;
  limit: number;
}

interface ChoiceOptions extends AccountOptions {
  monitor?: string;
}

interface MonitorOptions {
  monitor: string;
}

export const addCommands: AddCommands = (program, actions) => {
  const { lines, table } = actions;
  const noun = program.command('monitor');
  const withMonitor = (name: string) =>
    noun
      .command(name)
      .requiredOption('--monitor <monitor_id>', 'the monitor id', monitorId)
      .addHelpText('after', examples(`monitor ${name} --monitor mon_1a2b3c4d5e6f`));
  withAccount(noun.command('list'))
    .description('print monitors in order of id, one per line')
    .option(
      '--status <status>',
      `only monitors in this state: ${STATES.join(', ')}; default: all except deleted ones`,
      oneOf('--status', STATES),
    )
    .option('--failing', 'only monitors whose webhook is failing')
    .option('--after <monitor_id>', 'start after this monitor')
    .option('--limit <n>', 'the maximum number of lines', integer('--limit', MAX_LISTED), 100)
    .addHelpText(
      'after',
      examples('monitor list --failing', 'monitor list --email a@example.com --status paused_balance'),
    )
    .action(
      table(async ({ pool }, { status, failing = false, after: afterId, limit, ...owner }: ListOptions) => {
        const accountId = (await chosenAccount(pool, owner))?.id;
        const monitors = await listAllMonitors(pool, { status, failing, afterId, limit, accountId });
        return monitors.map(({ id: monitor_id, terms, ...monitor }) => ({
          monitor_id,
          ...printedRow(monitor),
          ...(terms.length > 0 && { terms }),
        }));
      }),
    );
  withMonitor('show')
    .description('print one monitor: its rule, state, matches and deliveries')
    .action(
      lines(async ({ pool }, { monitor: id }: MonitorOptions) => {
        const owned = await requireMonitor(pool, id);
        const stats = printedRow(await readMonitorStats(pool, id));
        const { readAt: _readAt, ...delivery } = await readDeliveryHealth(pool, id);
        return [{ ...monitorLine(owned), stats, delivery: printedRow(delivery) }];
      }),
    );
  withMonitor('pause')
    .description('stop matching and charging; repeating the command changes nothing')
    .action(
      lines(({ pool }, { monitor: id }: MonitorOptions) =>
        inTransaction(pool, async (client) => {
          const { monitor } = await requireLockedMonitor(client, id);
          if (monitor.status !== 'paused') {
            await stopMonitor(client, id, 'paused');
            await announceMonitorChange(client, id);
          }
          return [monitorLine(await requireMonitor(client, id))];
        }),
      ),
    );
  withMonitor('resume')
    .description(
      `start matching again; charges the account ${MONITOR_PERIOD_CREDITS} credits for the next 24 hours, as if its owner resumed it`,
    )
    .action(
      lines(({ pool }, { monitor: id }: MonitorOptions) =>
        inTransaction(pool, async (client) => {
          const { accountId, monitor } = await requireLockedMonitor(client, id);
          if (monitor.status === 'active') return [monitorLine({ accountId, monitor })];
          const credits = await startPaidPeriod(client, accountId, monitor);
          if (credits === undefined) {
            throw new AdminError(
              `${accountId} has fewer than ${MONITOR_PERIOD_CREDITS} credits or is not active: see account show, account grant and account unfreeze.`,
            );
          }
          await announceMonitorChange(client, id);
          return [{ ...monitorLine(await requireMonitor(client, id)), credits }];
        }),
      ),
    );
  noun
    .command('reset-day')
    .description(
      'reset monitors whose daily counter is in the future, because a clock ran ahead, to today (UTC); their daily cap starts again',
    )
    .option(
      '--monitor <monitor_id>',
      'only this monitor; default: every monitor whose counter is in the future',
      monitorId,
    )
    .addHelpText('after', examples('monitor reset-day', 'monitor reset-day --monitor mon_1a2b3c4d5e6f'))
    .action(
      table(async ({ pool }, { monitor: id }: Partial<MonitorOptions>) => {
        const ids = id === undefined ? await findMonitorsAhead(pool) : [(await requireMonitor(pool, id)).monitor.id];
        const reset: object[] = [];
        for (const one of ids) {
          const row = await inTransaction(pool, async (client) => {
            await lockRecordingMonitors(client, [one]);
            return resetDay(client, one);
          });
          if (row !== undefined) reset.push(printedRow(row));
        }
        return reset;
      }),
    );
  withMonitor('test')
    .description(
      'send a sample match to the webhook, signed like a real one, and print the outcome; a success clears webhook_failing',
    )
    .action(
      lines(async ({ pool, config }, { monitor: id }: MonitorOptions) => {
        const { accountId } = await requireMonitor(pool, id);
        const webhook = await readMonitorWebhook(pool, accountId, id);
        const secretBox = secretBoxOf(await requireSecretKeys(pool, config));
        const { status, error } = await sendSample(config, id, { webhook, secretBox });
        if (error === null) await clearFailing(pool, id, webhook!.webhookUrl);
        return [{ monitor_id: id, delivered: error === null, status, error }];
      }),
    );
  addDeliveryCommands(program, actions);
};

function monitorId(text: string): string {
  if (isMonitorId(text)) return text;
  throw new AdminError('--monitor: must be a monitor id: mon_ followed by 12 letters and digits.');
}

interface OwnedMonitor {
  accountId: string;
  monitor: StoredMonitor;
}

/** @throws AdminError when there is no such monitor, or it is deleted */
async function requireMonitor(db: Queryable, id: string): Promise<OwnedMonitor> {
  const accountId = await findMonitorOwner(db, id);
  const monitor = accountId === undefined ? undefined : await readMonitor(db, accountId, id);
  if (accountId === undefined || !monitor) throw new AdminError(`--monitor: no monitor ${id}.`);
  if (monitor.status === 'deleted') throw new AdminError(`--monitor: ${id} is deleted.`);
  return { accountId, monitor };
}

/** As requireMonitor, with the monitor's lock until the transaction ends. */
async function requireLockedMonitor(db: Queryable, id: string): Promise<OwnedMonitor> {
  const { accountId } = await requireMonitor(db, id);
  await lockMonitor(db, accountId, id);
  return requireMonitor(db, id);
}

/** Shows the webhook's kind and host, never its URL: the URL of a chat is a secret. */
function monitorLine({ accountId, monitor }: OwnedMonitor): object {
  const { id: monitor_id, webhookUrl, refinements, threadOnce, ...rest } = monitor;
  const conditions = refinementsResource(refinements, threadOnce);
  const webhook_host = webhookUrl !== null && URL.canParse(webhookUrl) ? new URL(webhookUrl).host : null;
  return { monitor_id, account_id: accountId, ...printedRow(rest), ...conditions, webhook_host };
}

/** `status` is 0 without an answer; `error` is null when the receiver accepted it. */
async function sendSample(
  { webhooks, upstream }: Config,
  id: string,
  { webhook, secretBox }: { webhook: MonitorWebhook | undefined; secretBox: SecretBox },
): Promise<{ status: number; error: string | null }> {
  if (!webhook || webhook.webhookUrl === null || webhook.webhookKind === null) {
    throw new AdminError(`--monitor: ${id} has no webhook.`);
  }
  const now = systemClock();
  const open = (sealed: Buffer) => secretBox.open(sealed, id);
  const { previousSecret } = webhook;
  const match = sampleMatch({ monitorId: id, keyword: webhook.firstTerm }, { siteUrl: upstream.siteUrl, now });
  const { headers, body } = buildWebhookMessage({
    id: match.id,
    kind: webhook.webhookKind,
    monitor: { id, name: webhook.name },
    content: { type: 'monitor.match', match },
    secrets: [open(webhook.webhookSecret), ...(previousSecret === null ? [] : [open(previousSecret)])],
    now,
  });
  const lookup = webhooks.allowPrivate ? createSystemLookup() : createDnsLookup();
  const egress = createEgressClient({ ...webhooks, lookup, clock: systemClock });
  try {
    const url = webhookRequestUrl(webhook.webhookKind, webhook.webhookUrl);
    const deadlineMs = WEBHOOK_DEADLINE_MS;
    const result = await egress.send({
      url,
      method: 'POST',
      headers: { ...headers, 'X-Service-Test': '1' },
      body,
      deadlineMs,
    });
    const error = result.error === 'local' ? `local (${result.code})` : decideOutcome(result, 0, 0).error;
    return { status: result.status, error };
  } finally {
    await egress.close();
  }
}

/** Unless the webhook was changed during the attempt. */
async function clearFailing(pool: Pool, id: string, testedUrl: string | null): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { monitor } = await requireLockedMonitor(client, id);
    if (monitor.webhookUrl === testedUrl) await clearMonitorHealth(client, id);
  });
}

/** Matches in one transaction, which holds the monitor's lock for a fraction of a second. */
const MAX_PER_STEP = 5_000;
/** As resends of the owner: a receiver that was down does not get everything at once. */
const PACE_MS = 100;
/** Monitors whose matches one statement reads. */
const MONITORS_PER_STEP = 200;

const addDeliveryCommands: AddCommands = (program, { lines, table }) => {
  const noun = program.command('deliveries');
  const withChoice = (name: string) =>
    withAccount(noun.command(name).option('--monitor <monitor_id>', 'only deliveries of this monitor', monitorId));
  const listing = (status: DeliveryFilter['status']) =>
    table(async ({ pool }, { limit, ...choice }: ChoiceOptions & { limit: number }) => {
      const monitorIds = await chosenMonitors(pool, choice);
      if (status === 'failed' && monitorIds === undefined) {
        throw new AdminError('--monitor, --email or --account is required.');
      }
      return deliveries(pool, { status, monitorIds, limit });
    });
  withChoice('pending')
    .description(
      'print the deliveries that are waiting for their first or next attempt, with the outcome of the last one',
    )
    .option('--limit <n>', 'the maximum number of lines', integer('--limit', MAX_LISTED), 100)
    .addHelpText('after', examples('deliveries pending', 'deliveries pending --email a@example.com --json'))
    .action(listing('pending'));
  withChoice('failed')
    .description('print the deliveries of a monitor or an account that failed permanently in the last 30 days')
    .option('--limit <n>', 'the maximum number of lines', integer('--limit', MAX_LISTED), 100)
    .addHelpText('after', examples('deliveries failed --monitor mon_1a2b3c4d5e6f'))
    .action(listing('failed'));
  withChoice('retry')
    .description('queue failed deliveries again, ten a second per monitor; make waiting ones due now')
    .option('--failed', 'only failed ones: of all monitors, one monitor or one account')
    .option(
      '--since <time>',
      'only matches recorded at this time or later, such as 2026-03-04T05:06:07Z; required without --monitor',
      time('--since'),
    )
    .addHelpText(
      'after',
      examples(
        'deliveries retry --monitor mon_1a2b3c4d5e6f --since 2026-03-04T00:00:00Z',
        'deliveries retry --failed --since 2026-03-04T00:00:00Z',
      ),
    )
    .action(lines(retry));
};

/** The monitors that the options name; undefined when they name none. */
async function chosenMonitors(pool: Pool, { monitor, ...owner }: ChoiceOptions): Promise<string[] | undefined> {
  const account = await chosenAccount(pool, owner);
  if (monitor === undefined) return account && (await listMonitors(pool, account.id)).map(({ id }) => id);
  if (account !== undefined) throw new AdminError('Give --monitor or an account, not both.');
  return [(await requireMonitor(pool, monitor)).monitor.id];
}

async function deliveries(pool: Pool, filter: DeliveryFilter): Promise<object[]> {
  const listed = await listDeliveries(pool, filter);
  return listed.map(({ seq, ...delivery }) => ({
    match_id: matchId(delivery.monitorId, seq),
    ...printedRow(delivery),
  }));
}

async function retry(
  { pool }: Installation,
  { failed, since, ...choice }: ChoiceOptions & { failed?: boolean; since?: Date },
): Promise<Lines> {
  const { monitor, email, account } = choice;
  if (failed) {
    if (monitor === undefined && since === undefined) {
      throw new AdminError('--since is required with --failed, unless --monitor is given.');
    }
    if (monitor !== undefined) await requireWebhook(pool, monitor);
    return queueAll(pool, await chosenMonitors(pool, choice), since ?? new Date(0));
  }
  if (email !== undefined || account !== undefined) throw new AdminError('--email and --account need --failed.');
  if (monitor === undefined) throw new AdminError('--monitor is required.');
  await requireWebhook(pool, monitor);
  const hastened = await inTransaction(pool, async (client) => {
    await requireLockedMonitor(client, monitor);
    return hastenPending(client, monitor, undefined, undefined);
  });
  return [{ monitor_id: monitor, queued: await queueFailed(pool, monitor, since), hastened }];
}

/** Yields a line for each monitor with failed deliveries, then the totals. @param chosen undefined: all monitors */
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
