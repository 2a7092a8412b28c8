import type { Monitor } from '../../../schemas/api/monitor.ts';
import type { StoredMonitor } from '../../../shared/stores/monitors/monitors.ts';

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
    webhook_url: stored.webhook_url,
    webhook_kind: stored.webhook_kind,
    status: stored.status,
    webhook_failing: stored.webhook_failing,
    next_charge_at: stored.next_charge_at.toISOString(),
    last_match_at: stored.last_match_at?.toISOString() ?? null,
    created_at: stored.created_at.toISOString(),
    updated_at: stored.updated_at.toISOString(),
  };
}
