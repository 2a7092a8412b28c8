import type { Monitor, MonitorStats } from '../../../schemas/api/monitor.ts';
import type { StoredMonitorStats } from '../../../shared/stores/monitors/monitor-stats.ts';
import type { StoredMonitor } from '../../../shared/stores/monitors/monitors.ts';
import { refinementsResource } from '../../../shared/domain/refinements-resource.ts';

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
