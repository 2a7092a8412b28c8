import type { TestDelivery } from '../../../schemas/api/deliveries.ts';
import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { decideOutcome, WEBHOOK_DEADLINE_MS } from '../../../shared/deliveries/rules/delivery-outcome.ts';
import {
  buildWebhookMessage,
  sampleMatch,
  webhookRequestUrl,
} from '../../../shared/deliveries/rules/webhook-message.ts';
import type { WebhookMessage } from '../../../shared/deliveries/rules/webhook-message.ts';
import type { EgressClient, EgressResult } from '../../../shared/http/egress-client.ts';
import { readMonitorWebhook } from '../../../shared/monitors/monitor-webhooks.ts';
import type { MonitorWebhook } from '../../../shared/monitors/monitor-webhooks.ts';
import { clearMonitorHealth, lockMonitor, readMonitor } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ApiError, invalidRequest, noSuchMonitor } from '../http/api-error.ts';

export interface TestDeliveryDeps {
  pool: Pool;
  secretBox: SecretBox;
  egress: EgressClient;
  clock: Clock;
  /** The forum's address, for the link in the sample. */
  siteUrl: string;
}

const TESTS_PER_MINUTE = 5;

type WebhookInUse = MonitorWebhook & { webhookUrl: string; webhookKind: WebhookKind };

/**
 * Sends a sample match to a monitor's webhook exactly like a real one and reports the outcome.
 *
 * @throws ApiError not_found, invalid_request without a webhook, rate_limited
 */
export async function testDelivery(deps: TestDeliveryDeps, accountId: string, id: string): Promise<TestDelivery> {
  const webhook = await usableWebhook(deps.pool, accountId, id);
  await takeTest(deps.pool, accountId);
  const result = await send(deps, id, webhook);
  const { deliveryStatus, error } = decideOutcome(result, 0, 0);
  const delivered = deliveryStatus === 'delivered';
  if (delivered) await clearFailing(deps.pool, accountId, id, webhook.webhookUrl);
  return { delivered, status: result.status, error };
}

async function send(
  deps: TestDeliveryDeps,
  id: string,
  webhook: WebhookInUse,
): Promise<EgressResult | { error: 'secret_unreadable'; status: 0 }> {
  let message: WebhookMessage;
  try {
    message = sampleMessage(deps, id, webhook);
  } catch {
    // SECRET_KEY changed since the secret was stored: deliveries fail in the same way, and log it.
    return { error: 'secret_unreadable', status: 0 };
  }
  return deps.egress.send({
    url: webhookRequestUrl(webhook.webhookKind, webhook.webhookUrl),
    method: 'POST',
    headers: { ...message.headers, 'X-Service-Test': '1' },
    body: message.body,
    deadlineMs: WEBHOOK_DEADLINE_MS,
  });
}

async function usableWebhook(pool: Pool, accountId: string, id: string): Promise<WebhookInUse> {
  const webhook = isMonitorId(id) ? await readMonitorWebhook(pool, accountId, id) : undefined;
  if (!webhook) throw noSuchMonitor();
  const { webhookUrl, webhookKind } = webhook;
  if (webhookUrl === null || webhookKind === null) {
    throw invalidRequest([{ field: 'webhook_url', message: 'the monitor has no webhook to be tested' }]);
  }
  return { ...webhook, webhookUrl, webhookKind };
}

async function takeTest(pool: Pool, accountId: string): Promise<void> {
  const retryAfter = await takeUse(pool, { name: `webhook-test:${accountId}`, maxUses: TESTS_PER_MINUTE, seconds: 60 });
  if (retryAfter === 0) return;
  throw new ApiError('rate_limited', `Too many test deliveries: ${TESTS_PER_MINUTE} a minute are allowed.`, {
    retryAfter,
  });
}

function sampleMessage(deps: TestDeliveryDeps, id: string, webhook: WebhookInUse): WebhookMessage {
  const { secretBox, clock, siteUrl } = deps;
  const now = clock();
  const previous = webhook.previousSecret;
  const match = sampleMatch({ monitorId: id, keyword: webhook.firstTerm }, { siteUrl, now });
  return buildWebhookMessage({
    id: match.id,
    kind: webhook.webhookKind,
    monitor: { id, name: webhook.name },
    content: { type: 'monitor.match', match },
    secrets: [secretBox.open(webhook.webhookSecret, id), ...(previous ? [secretBox.open(previous, id)] : [])],
    now,
  });
}

/** Unless the webhook was changed during the attempt. */
async function clearFailing(pool: Pool, accountId: string, id: string, testedUrl: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockMonitor(client, accountId, id);
    const current = await readMonitor(client, accountId, id);
    if (current?.webhookUrl === testedUrl) await clearMonitorHealth(client, id);
  });
}
