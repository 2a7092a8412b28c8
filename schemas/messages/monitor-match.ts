import { z } from 'zod';
import { bareId, fullname, itemContent, timestamp } from './forum-item.ts';

/** Why a match was suppressed that is not over the daily cap: its thread had a match of the monitor that day. */
export const suppressedReason = z.enum(['thread_once']);
export type SuppressedReason = z.infer<typeof suppressedReason>;

export const deliveryStatus = z.enum(['none', 'pending', 'delivered', 'failed', 'skipped']);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

/** A match in pages and webhooks. */
export const monitorMatch = z
  .strictObject({
    id: z.string().describe('Sorts as text in match order.'),
    monitor_id: z.string(),
    thing_id: fullname,
    kind: z.enum(['post', 'comment']),
    subreddit: z.string(),
    author: z.string(),
    title: z.string().describe('For a comment, the title of its post.'),
    body: z.string().describe('Markdown: the text of the post or comment.'),
    permalink: z.string(),
    post_id: bareId,
    created_utc: timestamp,
    matched_terms: z
      .array(z.string())
      .describe('The keywords and the texts of `terms` that matched, as you wrote them.'),
    suppressed: z.boolean().describe('Beyond the daily cap, or for `suppressed_reason`: stored but not sent.'),
    suppressed_reason: suppressedReason
      .optional()
      .describe(
        '`thread_once`: its thread had a match of this monitor that day. Absent when the match is not suppressed, or because of the daily cap.',
      ),
    backfill: z.literal(true).optional().describe('Present when a backfill found the match in the archive.'),
    delivery_status: deliveryStatus.describe(
      '`none`: no webhook, or a backfill that does not deliver; `pending`: waiting to be sent or retried; `delivered`; `failed`: failed for good; `skipped`: will not be sent.',
    ),
    created_at: timestamp,
    delivered_at: timestamp.nullable().optional(),
  })
  .meta({ id: 'MonitorMatch' });

export type MonitorMatch = z.infer<typeof monitorMatch>;

/** Answer of GET /v1/monitors/{id}/matches. A cursor is null when no further match follows it. */
export const matchPage = z
  .strictObject({
    items: z.array(monitorMatch),
    after: z
      .string()
      .nullable()
      .describe(
        'With `order=oldest`: send it as `after` to continue. Only set when there are more matches; a filtered page may be empty and still have it.',
      ),
    before: z.string().nullable().describe('With `order=newest`: send it as `before` to get the next, older page.'),
  })
  .meta({ id: 'MatchPage' });

export type MatchPage = z.infer<typeof matchPage>;

/**
 * Value of monitor.matches: a match as it was first recorded. Key: monitor_id. A repeat publishes the same value again,
 * even if the monitor changed since. Order matches by seq only.
 */
export const recordedMatch = z.object({
  v: z.literal(1),
  match_id: z.string(),
  monitor_id: z.string(),
  seq: z.number().int().min(1),
  matched_terms: z.array(z.string()).min(1),
  suppressed: z.boolean(),
  /** Absent when the match is not suppressed, or because of the daily cap. */
  suppressed_reason: suppressedReason.optional(),
  /** Present when a backfill found the match in the archive; `entered_at` is then when the item was first seen. */
  backfill: z.literal(true).optional(),
  /**
   * The delivery decision when the match was recorded: none (no webhook, or a backfill that does not deliver), pending,
   * or skipped (suppressed).
   */
  first_delivery: z.enum(['none', 'pending', 'skipped']),
  entered_at: timestamp,
  created_at: timestamp,
  /** From the first run of the matcher; a repeat may have a later time. Use it only to measure latency. */
  first_seen_at: timestamp,
  item: itemContent,
});

export type RecordedMatch = z.infer<typeof recordedMatch>;
