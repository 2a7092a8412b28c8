import { z } from 'zod';
import { bareId, fullname, timestamp } from './forum-item.ts';
import { deliveryStatus, suppressedReason } from './recorded-match.ts';

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
