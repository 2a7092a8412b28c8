import type { Monitor, MonitorStats, MonitorDelivery } from '../../../schemas/api/monitors.ts';
import { refinementsResource } from '../../../shared/monitors/rules/refinements-resource.ts';
import type { StoredDeliveryHealth } from '../../../shared/deliveries/delivery-health.ts';
import type { StoredMonitorStats } from '../../../shared/monitors/monitor-webhooks.ts';
import type { StoredMonitor } from '../../../shared/monitors/monitors.ts';

/** A monitor in the form the API returns. */
export function monitorResource(stored: StoredMonitor): Monitor {
  return {
    id: stored.id,
    name: stored.name,
    keywords: stored.keywords,
    exclude: stored.exclude,
    subreddits: stored.subreddits,
    include_posts: stored.posts,
    include_comments: stored.comments,
    nsfw: stored.nsfw,
    ...refinementsResource(stored.refinements, stored.threadOnce),
    webhook_url: stored.webhookUrl,
    webhook_kind: stored.webhookKind,
    ...(stored.spikeWebhook && { spike_webhook: true }),
    ...(stored.digest !== null && { digest: stored.digest }),
    status: stored.status,
    webhook_failing: stored.webhookFailing,
    next_charge_at: stored.nextChargeAt.toISOString(),
    last_match_at: stored.lastMatchAt?.toISOString() ?? null,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt.toISOString(),
  };
}

/** A monitor's counts as the API shows them. */
export function monitorStatsResource(stored: StoredMonitorStats, monitor: Monitor): MonitorStats {
  return {
    matches_today: stored.matchesToday,
    suppressed_today: stored.suppressedToday,
    suppressed_not_stored: stored.suppressedNotStored,
    matches_7d: stored.matches7d,
    delivery_failures_24h: stored.deliveryFailures24h,
    last_match_at: monitor.last_match_at,
  };
}

/** Deliveries that have waited for longer after a failed attempt are failing, and not only retried. */
const PATIENCE_MS = 10 * 60_000;

type Webhook = Pick<StoredMonitor, 'webhookUrl' | 'webhookFailing'>;

/** How a monitor's deliveries go, as the API shows it. */
export function deliveryResource(health: StoredDeliveryHealth, webhook: Webhook): MonitorDelivery {
  return {
    state: stateOf(health, webhook),
    pending: health.pending,
    oldest_pending_at: health.oldestPendingAt?.toISOString() ?? null,
    last_status: health.lastStatus,
    last_error: health.lastError,
    last_attempt_at: health.lastAttemptAt?.toISOString() ?? null,
    last_delivered_at: health.lastDeliveredAt?.toISOString() ?? null,
    attempt_failures_24h: health.attemptFailures24h,
  };
}

function stateOf(health: StoredDeliveryHealth, { webhookUrl, webhookFailing }: Webhook): MonitorDelivery['state'] {
  if (webhookUrl === null) return 'none';
  if (health.lastError === null && (health.lastDeliveredAt !== null || !webhookFailing)) return 'ok';
  if (webhookFailing) return 'failing';
  const waitedMs = health.oldestPendingAt === null ? 0 : health.readAt.getTime() - health.oldestPendingAt.getTime();
  return waitedMs > PATIENCE_MS ? 'failing' : 'retrying';
}
