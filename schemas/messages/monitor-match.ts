import { z } from 'zod';
import { bareId, fullname, timestamp } from './forum-item.ts';
import { deliveryStatus } from './recorded-match.ts';

/** A match as pages and webhooks show it. */
export const monitorMatch = z.strictObject({
  /** Sorts, as text, in match order. */
  id: z.string(),
  monitor_id: z.string(),
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  subreddit: z.string(),
  author: z.string(),
  /** For a comment the title of the post it is on. */
  title: z.string(),
  body: z.string(),
  permalink: z.string(),
  post_id: bareId,
  created_utc: timestamp,
  /** Keywords as the user wrote them, in the monitor's order. */
  matched_terms: z.array(z.string()),
  /** Over the daily cap: recorded, never sent. */
  suppressed: z.boolean(),
  delivery_status: deliveryStatus,
  created_at: timestamp,
  delivered_at: timestamp.nullable().optional(),
});

export type MonitorMatch = z.infer<typeof monitorMatch>;

/** Answer of GET /v1/monitors/{id}/matches. A cursor is null when there is nothing more to get with it. */
export const matchPage = z.strictObject({
  items: z.array(monitorMatch),
  after: z.string().nullable(),
  before: z.string().nullable(),
});

export type MatchPage = z.infer<typeof matchPage>;
