import type { Monitor, MonitorDelivery, MonitorStats } from '../../../schemas/api/monitors.ts';
import { monitorId } from '../../../schemas/messages/monitor-match.ts';
import type { StoredDeliveryHealth } from '../../../shared/deliveries/delivery-health.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import { lockMonitor, readLastSeqOf, readMonitor } from '../../../shared/monitors/monitors.ts';
import type { StoredMonitor, StoredMonitorStats } from '../../../shared/monitors/monitors.ts';
import { refinementsResource } from '../../../shared/monitors/rules/print-rule-query.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { ArchiveSample } from './archive-samples.ts';

/** The `:id` of routes about one monitor. */
export const MONITOR_ID = { description: 'The monitor id, `mon_…`.', example: exampleOf(monitorId) };

/** @throws ApiError not_found when the account has no such monitor or has deleted it */
export async function findMonitor(db: Queryable, accountId: string, id: string): Promise<StoredMonitor> {
  const monitor = isMonitorId(id) ? await readMonitor(db, accountId, id) : undefined;
  if (!monitor || monitor.status === 'deleted') throw noSuchMonitor();
  return monitor;
}

/**
 * The seq of the monitor's last match, 0 before the first.
 *
 * @throws ApiError not_found as above
 */
export async function findLastSeq(db: Queryable, accountId: string, id: string): Promise<number> {
  const lastSeq = isMonitorId(id) ? await readLastSeqOf(db, accountId, id) : undefined;
  if (lastSeq === undefined) throw noSuchMonitor();
  return lastSeq;
}

/**
 * Locks the monitor, then reads it in a separate statement: a statement that waited for the lock would still see the
 * state from before the wait.
 *
 * @throws ApiError not_found as above
 */
export async function findAndLockMonitor(db: Queryable, accountId: string, id: string): Promise<StoredMonitor> {
  if (!isMonitorId(id)) throw noSuchMonitor();
  await lockMonitor(db, accountId, id);
  return findMonitor(db, accountId, id);
}

export interface MonitorDeps {
  pool: Pool;
  /** Seals webhook secrets, with the monitor's id as context. */
  secretBox: SecretBox;
  /** How webhook URLs are checked. */
  webhooks: PublicUrlOptions;
  /** The forum's public address, which URLs of posts begin with. */
  siteUrl: string;
  /** How many suppressed matches are stored per monitor and UTC day; named in warnings. */
  suppressedPerDay: number;
  /** For the shares of common keywords; named in warnings. */
  archiveSample: ArchiveSample;
}

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
    ...(stored.notify !== null && { notify: stored.notify }),
    ...(stored.notifyStopped !== null && { notify_stopped: stored.notifyStopped }),
    status: stored.status,
    webhook_failing: stored.webhookFailing,
    next_charge_at: stored.nextChargeAt.toISOString(),
    last_match_at: stored.lastMatchAt?.toISOString() ?? null,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt.toISOString(),
  };
}

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
