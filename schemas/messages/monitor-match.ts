import { z } from 'zod';
import { count, example, itemContent, timestamp } from './forum-item.ts';

/**
 * A range [start, end) of UTF-16 code units in the item's title or body, as the author wrote it. The title of a comment
 * is that of its post: `post_title`.
 */
const matchPosition = z.object({
  field: z.enum(['title', 'body', 'post_title']),
  start: z.number().int().nonnegative(),
  end: z.number().int().positive(),
});

/**
 * Value of monitor.candidates: an item that matches a monitor's rule. Key: monitor_id. The recorder decides whether it
 * becomes a match.
 */
export const candidate = z.object({
  v: z.literal(1),
  /** Printable ASCII: PostgreSQL refuses a zero byte. */
  monitor_id: z.string().regex(/^[!-~]{1,64}$/),
  /** Version of the rule that matched. */
  monitor_version: z.number().int().min(1).max(2_147_483_646),
  /** Keywords as the user wrote them, in the monitor's order, each once. */
  matched_terms: z.array(z.string()).min(1),
  /** The first occurrence of each matched term, in the order of the terms. Older messages do not have this field. */
  match_positions: z.array(matchPosition).optional(),
  /** The broker's append time of the item. */
  entered_at: timestamp,
  first_seen_at: timestamp,
  replay: z.boolean(),
  item: itemContent,
});

export type Candidate = z.infer<typeof candidate>;

/** Metadata of each offset that a matcher commits, as JSON, read by the next owner of the partition. */
export const matcherCommit = z.object({
  /** Offset at which the next owner must start reading to have the recent items. */
  refill: z.string().regex(/^\d+$/),
  /** Append time of the last committed record, in milliseconds since the epoch. */
  at: z.number(),
});

/** Metadata that is not a matcher's, or malformed: undefined. */
export function parseMatcherCommit(metadata: string): z.infer<typeof matcherCommit> | undefined {
  try {
    return matcherCommit.safeParse(JSON.parse(metadata)).data;
  } catch {
    return undefined;
  }
}

/** Why a match was suppressed that is not over the daily cap: its thread had a match of the monitor that day. */
export const suppressedReason = z.enum(['thread_once']);
export type SuppressedReason = z.infer<typeof suppressedReason>;

export const deliveryStatus = z.enum(['none', 'pending', 'delivered', 'failed', 'skipped']);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

const { thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc } = itemContent.shape;
export const monitorId = z.string().meta(example('mon_3k7m2q9x4t8v'));
export const matchId = z.string().meta(example('mat_3k7m2q9x4t8v_000000000042'));

/** A match in pages and webhooks. */
export const monitorMatch = z
  .strictObject({
    id: matchId.describe('Sorting ids as text gives the order of the matches.'),
    monitor_id: monitorId,
    thing_id,
    kind,
    subreddit,
    author,
    title: title.describe('For a comment, the title of its post.'),
    body: body.describe('Markdown: the text of the post or comment.'),
    permalink,
    post_id,
    created_utc,
    matched_terms: z
      .array(z.string())
      .describe('The keywords and texts of `terms` that matched, as you wrote them.')
      .meta(example(['french press'])),
    suppressed: z.boolean().describe('true: stored but not sent, because of the daily cap or `suppressed_reason`.'),
    suppressed_reason: suppressedReason
      .optional()
      .describe(
        '`thread_once`: the monitor already had a match in this thread that day. Absent when the match is not suppressed, or is suppressed because of the daily cap.',
      ),
    backfill: z.literal(true).optional().describe('Present when a backfill found the match in the archive.'),
    delivery_status: deliveryStatus
      .describe(
        '`none`: no webhook, or a backfill that does not deliver. `pending`: waiting to be sent or retried. `delivered`. `failed`: failed permanently. `skipped`: will not be sent.',
      )
      .meta(example('pending')),
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
        'With `order=oldest`: send it as `after` to continue. Set only when there are more matches; a filtered page may be empty and still have it.',
      ),
    before: z
      .string()
      .nullable()
      .describe('With `order=newest`: send it as `before` to get the next page of older matches.'),
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

/** Value of monitor.deliveries: one attempt to deliver a match, with its outcome. Key: monitor_id. */
export const deliveryAttempt = z.object({
  v: z.literal(1),
  monitor_id: z.string(),
  seq: z.number().int().min(1),
  match_id: z.string(),
  /** 1, 2, 3 …; resends continue the count. */
  attempt: z.number().int().min(1),
  started_at: timestamp,
  duration_ms: count,
  webhook_kind: z.enum(['generic', 'slack', 'discord']),
  /** Only the host of the webhook URL, because URLs of chat webhooks are secrets. */
  host: z.string(),
  /** The HTTP status of the answer; 0 when there was none. */
  status: count.max(999),
  /** null, or timeout, dns, tls, connect, blocked_address, redirect, http_status … */
  error: z.string().nullable(),
  /** The match's delivery status after this attempt. */
  delivery_status: z.enum(['pending', 'delivered', 'failed']),
  /** When the next attempt is due; null when there is none. */
  next_attempt_at: timestamp.nullable(),
});

export type DeliveryAttempt = z.infer<typeof deliveryAttempt>;
