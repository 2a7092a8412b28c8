import type { MonitorDelivery } from '../../../schemas/api/monitor.ts';
import type { StoredDeliveryHealth } from '../../../shared/stores/deliveries/delivery-health.ts';
import type { StoredMonitor } from '../../../shared/stores/monitors/monitors.ts';

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
