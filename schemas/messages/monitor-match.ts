import { z } from 'zod';
import { bareId, fullname, timestamp } from './forum-item.ts';
import { deliveryStatus, suppressedReason } from './recorded-match.ts';

/** A match in pages and webhooks. */
export const monitorMatch = z.strictObject({
  /** Sorting ids as text gives the order of the matches. */
  id: z.string(),
  monitor_id: z.string(),
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  subreddit: z.string(),
  author: z.string(),
  /** For a comment, the title of its post. */
  title: z.string(),
  body: z.string(),
  permalink: z.string(),
  post_id: bareId,
  created_utc: timestamp,
  /** Keywords as the user wrote them, in the monitor's order. */
  matched_terms: z.array(z.string()),
  /** Above the daily cap, or for `suppressed_reason`: recorded but never sent. */
  suppressed: z.boolean(),
  /** Present only when the match is suppressed for another reason than the daily cap. */
  suppressed_reason: suppressedReason.optional(),
  /** Present when a backfill found the match in the archive. */
  backfill: z.literal(true).optional(),
  delivery_status: deliveryStatus,
  created_at: timestamp,
  delivered_at: timestamp.nullable().optional(),
});

export type MonitorMatch = z.infer<typeof monitorMatch>;

/** Answer of GET /v1/monitors/{id}/matches. A cursor is null when no further match follows it. */
export const matchPage = z.strictObject({
  items: z.array(monitorMatch),
  after: z.string().nullable(),
  before: z.string().nullable(),
});

export type MatchPage = z.infer<typeof matchPage>;
