import type { MonitorStatus } from '../../../schemas/api/monitors.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { refinementsResource } from '../../../shared/domain/refinements-resource.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { readDeliveryHealth } from '../../../shared/stores/deliveries/delivery-health.ts';
import { findMonitorsAhead, listAllMonitors, resetDay } from '../../../shared/stores/monitors/administered-monitors.ts';
import { lockRecordingMonitors } from '../../../shared/stores/monitors/recording-monitors.ts';
import { readMonitorStats } from '../../../shared/stores/monitors/monitor-stats.ts';
import { announceMonitorChange, stopMonitor, clearMonitorHealth } from '../../../shared/stores/monitors/monitors.ts';
import { startPaidPeriod } from '../../../shared/stores/monitors/paid-period.ts';
import { accountOption, requireAccount, ACCOUNT_OPTIONS } from '../accounts/account-choice.ts';
import { AdminError, integerOption, printedRow, requireSecretKeys } from '../command.ts';
import type { OptionValues, PostgresCommand } from '../command.ts';
import {
  monitorOption,
  requireLockedMonitor,
  requireMonitor,
  MONITOR_HELP,
  MONITOR_OPTIONS,
} from './monitor-choice.ts';
import type { OwnedMonitor } from './monitor-choice.ts';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { decideOutcome, WEBHOOK_DEADLINE_MS } from '../../../shared/domain/webhooks/delivery-outcome.ts';
import {
  sampleMatch,
  buildWebhookMessage,
  webhookRequestUrl,
} from '../../../shared/domain/webhooks/webhook-message.ts';
import { createDnsLookup, createSystemLookup } from '../../../shared/http/address-lookup.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readMonitorWebhook } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import type { MonitorWebhook } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import { secretBoxOf } from '../../../shared/stores/upkeep/secret-keys.ts';

const STATES: readonly MonitorStatus[] = ['active', 'paused', 'paused_balance', 'deleted'];
const DEFAULT_LISTED = 100;
const MAX_LISTED = 10_000;
const ANY_MONITOR = 'mon_1a2b3c4d5e6f';

const MONITOR_LIST: PostgresCommand = {
  name: 'monitor list',
  summary: 'print monitors in the order of their ids, a line each',
  optionsHelp: [
    '--email ADDRESS        only those of this account,',
    '--account ACCOUNT_ID   or of the account with this id',
    `--status STATUS        only those in this state: ${STATES.join(', ')}; default: all but deleted ones`,
    '--failing              only those whose webhook is failing',
    '--after MONITOR_ID     start after this monitor',
    `--limit N              how many lines at most, default ${DEFAULT_LISTED}`,
  ],
  examples: ['monitor list --failing', 'monitor list --email a@example.com --status paused_balance'],
  options: {
    ...ACCOUNT_OPTIONS,
    status: { type: 'string' },
    failing: { type: 'boolean' },
    after: { type: 'string' },
    limit: { type: 'string' },
  },
  isList: true,
  prepare(values) {
    const named = values.email === undefined && values.account === undefined ? undefined : accountOption(values);
    const filter = {
      status: statusOption(values),
      failing: values.failing !== undefined,
      afterId: values.after,
      limit: integerOption(values, 'limit', { max: MAX_LISTED, byDefault: DEFAULT_LISTED }),
    };
    return async (pool) => {
      const accountId = named && (await requireAccount(pool, named)).id;
      const monitors = await listAllMonitors(pool, { ...filter, accountId });
      return monitors.map(({ id: monitor_id, terms, ...monitor }) => ({
        monitor_id,
        ...printedRow(monitor),
        ...(terms.length > 0 && { terms }),
      }));
    };
  },
};

const MONITOR_SHOW: PostgresCommand = {
  name: 'monitor show',
  summary: 'print one monitor: its rule, its state, its matches and how its deliveries go',
  optionsHelp: MONITOR_HELP,
  examples: [`monitor show --monitor ${ANY_MONITOR}`],
  options: MONITOR_OPTIONS,
  prepare(values) {
    const id = monitorOption(values);
    return async (pool) => {
      const owned = await requireMonitor(pool, id);
      const stats = printedRow(await readMonitorStats(pool, id));
      const { readAt: _readAt, ...delivery } = await readDeliveryHealth(pool, id);
      return [{ ...monitorLine(owned), stats, delivery: printedRow(delivery) }];
    };
  },
};

const MONITOR_PAUSE: PostgresCommand = {
  name: 'monitor pause',
  summary: 'stop matching and charging; repeating it changes nothing',
  optionsHelp: MONITOR_HELP,
  examples: [`monitor pause --monitor ${ANY_MONITOR}`],
  options: MONITOR_OPTIONS,
  prepare(values) {
    const id = monitorOption(values);
    return (pool) =>
      inTransaction(pool, async (client) => {
        const { monitor } = await requireLockedMonitor(client, id);
        if (monitor.status !== 'paused') {
          await stopMonitor(client, id, 'paused');
          await announceMonitorChange(client, id);
        }
        return [monitorLine(await requireMonitor(client, id))];
      });
  },
};

const MONITOR_RESUME: PostgresCommand = {
  name: 'monitor resume',
  summary: `start matching again; charges the account ${MONITOR_PERIOD_CREDITS} credits for the next 24 hours, as its owner's resume`,
  optionsHelp: MONITOR_HELP,
  examples: [`monitor resume --monitor ${ANY_MONITOR}`],
  options: MONITOR_OPTIONS,
  prepare(values) {
    const id = monitorOption(values);
    return (pool) =>
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
      });
  },
};

const MONITOR_RESET_DAY: PostgresCommand = {
  name: 'monitor reset-day',
  summary:
    'return monitors to the present UTC day, where a clock that was ahead left a later one; their daily cap begins anew',
  optionsHelp: ['--monitor MONITOR_ID   only this one; default: every monitor that counts on a future day'],
  examples: ['monitor reset-day', `monitor reset-day --monitor ${ANY_MONITOR}`],
  options: MONITOR_OPTIONS,
  isList: true,
  prepare(values) {
    const id = values.monitor === undefined ? undefined : monitorOption(values);
    return async (pool) => {
      const ids = id === undefined ? await findMonitorsAhead(pool) : [(await requireMonitor(pool, id)).monitor.id];
      const lines: object[] = [];
      for (const one of ids) {
        const reset = await inTransaction(pool, async (client) => {
          await lockRecordingMonitors(client, [one]);
          return resetDay(client, one);
        });
        if (reset !== undefined) lines.push(printedRow(reset));
      }
      return lines;
    };
  },
};

/** Of the webhook only its kind: the URL of a chat is a secret. */
function monitorLine({ accountId, monitor }: OwnedMonitor): object {
  const { id: monitor_id, webhookUrl, refinements, threadOnce, ...rest } = monitor;
  const conditions = refinementsResource(refinements, threadOnce);
  const webhook_host = webhookUrl !== null && URL.canParse(webhookUrl) ? new URL(webhookUrl).host : null;
  return { monitor_id, account_id: accountId, ...printedRow(rest), ...conditions, webhook_host };
}

function statusOption({ status }: OptionValues): MonitorStatus | undefined {
  if (status === undefined) return undefined;
  const known = STATES.find((state) => state === status);
  if (known === undefined) throw new AdminError(`--status: must be one of ${STATES.join(', ')}.`);
  return known;
}

const MONITOR_TEST: PostgresCommand = {
  name: 'monitor test',
  summary:
    'send a sample match to the webhook, signed as a real one, and print the outcome; a success ends webhook_failing',
  optionsHelp: MONITOR_HELP,
  examples: ['monitor test --monitor mon_1a2b3c4d5e6f'],
  options: MONITOR_OPTIONS,
  prepare(values) {
    const id = monitorOption(values);
    return async (pool, config) => {
      const { accountId } = await requireMonitor(pool, id);
      const webhook = await readMonitorWebhook(pool, accountId, id);
      const secretBox = secretBoxOf(await requireSecretKeys(pool, config));
      const { status, error } = await sendSample(config, id, { webhook, secretBox });
      if (error === null) await clearFailing(pool, id, webhook!.webhookUrl);
      return [{ monitor_id: id, delivered: error === null, status, error }];
    };
  },
};

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

export const COMMANDS = [MONITOR_LIST, MONITOR_SHOW, MONITOR_PAUSE, MONITOR_RESUME, MONITOR_RESET_DAY, MONITOR_TEST];
