import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { decideOutcome, WEBHOOK_DEADLINE_MS } from '../../../shared/domain/webhooks/delivery-outcome.ts';
import { sampleMatch } from '../../../shared/domain/webhooks/sample-match.ts';
import { buildWebhookMessage, webhookRequestUrl } from '../../../shared/domain/webhooks/webhook-message.ts';
import { createDnsLookup, createSystemLookup } from '../../../shared/http/address-lookup.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readMonitorWebhook } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import type { MonitorWebhook } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import { clearMonitorHealth } from '../../../shared/stores/monitors/monitors.ts';
import { secretBoxOf } from '../../../shared/stores/upkeep/secret-keys.ts';
import { requireSecretKeys } from '../required-keys.ts';
import { AdminError } from '../admin-error.ts';
import type { PostgresCommand } from '../command.ts';
import {
  monitorOption,
  requireLockedMonitor,
  requireMonitor,
  MONITOR_HELP,
  MONITOR_OPTIONS,
} from './monitor-choice.ts';

export const MONITOR_TEST: PostgresCommand = {
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
  const { headers, body } = buildWebhookMessage({
    kind: webhook.webhookKind,
    monitor: { id, name: webhook.name },
    match: sampleMatch({ monitorId: id, keyword: webhook.firstTerm }, { siteUrl: upstream.siteUrl, now }),
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
