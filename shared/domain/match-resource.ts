import type { MonitorMatch } from '../../schemas/messages/monitor-match.ts';
import type { DeliveryStatus } from '../../schemas/messages/recorded-match.ts';
import { matchId } from './identifiers.ts';

/** A match with the content of its thing as it was first matched. */
export interface StoredMatch {
  seq: number;
  thing_id: string;
  kind: 'post' | 'comment';
  matched_terms: string[];
  suppressed: boolean;
  delivery_status: DeliveryStatus;
  created_at: Date;
  delivered_at: Date | null;
  post_id: string;
  subreddit: string;
  author: string;
  title: string;
  body: string;
  permalink: string;
  created_utc: Date;
}

/** A match as pages, streams and webhooks show it. Receivers may compare bodies, so the order of the fields is fixed. */
export function matchResource(monitorId: string, stored: StoredMatch): MonitorMatch {
  return {
    id: matchId(monitorId, stored.seq),
    monitor_id: monitorId,
    thing_id: stored.thing_id,
    kind: stored.kind,
    subreddit: stored.subreddit,
    author: stored.author,
    title: stored.title,
    body: stored.body,
    permalink: stored.permalink,
    post_id: stored.post_id,
    created_utc: stored.created_utc.toISOString(),
    matched_terms: stored.matched_terms,
    suppressed: stored.suppressed,
    delivery_status: stored.delivery_status,
    created_at: stored.created_at.toISOString(),
    delivered_at: stored.delivered_at?.toISOString() ?? null,
  };
}
