import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import type { DeliveryStatus, MonitorMatch, SuppressedReason } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../rules/identifiers.ts';

export interface StoredMatch {
  seq: number;
  thingId: string;
  kind: 'post' | 'comment';
  matchedTerms: string[];
  suppressed: boolean;
  /** null when it is not suppressed, or because of the daily cap. */
  suppressedReason: SuppressedReason | null;
  backfill: boolean;
  deliveryStatus: DeliveryStatus;
  createdAt: Date;
  deliveredAt: Date | null;
  postId: string;
  subreddit: string;
  author: string;
  title: string;
  body: string;
  permalink: string;
  createdUtc: Date;
}

/** Receivers may compare bodies, so the order of the fields is fixed. */
export function matchResource(monitorId: string, stored: StoredMatch): MonitorMatch {
  return {
    id: matchId(monitorId, stored.seq),
    monitor_id: monitorId,
    thing_id: stored.thingId,
    kind: stored.kind,
    subreddit: stored.subreddit,
    author: stored.author,
    title: stored.title,
    body: stored.body,
    permalink: stored.permalink,
    post_id: stored.postId,
    created_utc: stored.createdUtc.toISOString(),
    matched_terms: stored.matchedTerms,
    suppressed: stored.suppressed,
    ...(stored.suppressedReason ? { suppressed_reason: stored.suppressedReason } : {}),
    ...(stored.backfill ? { backfill: true } : {}),
    delivery_status: stored.deliveryStatus,
    created_at: stored.createdAt.toISOString(),
    delivered_at: stored.deliveredAt?.toISOString() ?? null,
  };
}

/**
 * Returns the content of an item that was deleted or removed on the forum, without author and text. Ids, kind,
 * subreddit and times stay. The title is blanked too, also of a comment, where it is the title of the post.
 */
export function blankedContent(item: ItemContent): ItemContent {
  return { ...item, author: '[deleted]', title: '', body: '' };
}
