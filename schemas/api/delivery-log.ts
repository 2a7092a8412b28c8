import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { webhookKind } from './monitor.ts';
import { queryInteger } from './query-integer.ts';
import { queryTime } from './query-time.ts';

/** One attempt to deliver one match. */
export const deliveryLogEntry = z.strictObject({
  match_id: z.string(),
  /** 1, 2, 3 …; resends continue the count. */
  attempt: z.number().int().min(1),
  started_at: timestamp,
  duration_ms: z.number().int().min(0),
  webhook_kind: webhookKind,
  /** Host and port of the webhook. The rest of its URL may be a secret. */
  host: z.string(),
  /** The HTTP status that the endpoint answered; 0 when it did not answer. */
  status: z.number().int().min(0),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable(),
  /** The match's delivery status after this attempt. */
  delivery_status: z.enum(['pending', 'delivered', 'failed']),
  next_attempt_at: timestamp.nullable(),
});

export type DeliveryLogEntry = z.infer<typeof deliveryLogEntry>;

/** Newest match first; within a match, newest attempt first. */
export const deliveryLogPage = z.strictObject({
  items: z.array(deliveryLogEntry),
  /** Cursor of the next, older page; null on the last page. */
  after: z.string().nullable(),
});

export type DeliveryLogPage = z.infer<typeof deliveryLogPage>;

/** Query of GET /v1/monitors/{id}/deliveries. */
export const deliveryLogQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Attempts per page.'),
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('The `after` of the previous page: returns the attempts that follow its last one.'),
  match: z.string().min(1, 'must not be empty').optional().describe('The id of a match: returns only its attempts.'),
  status: z
    .enum(['pending', 'delivered', 'failed'])
    .optional()
    .describe(
      'Only attempts with this `delivery_status`; `pending`: failed and retried. A filtered page may be empty and still have an `after`.',
    ),
  since: queryTime.optional().describe('Only attempts that began at this time or later.'),
});

const MAX_IDS = 200;

/** Body of POST /v1/monitors/{id}/redeliver: either ids of matches, or a status, a time or both. */
export const redeliverBody = z
  .strictObject({
    match_ids: z
      .array(z.string())
      .min(1, 'must name at least one match')
      .max(MAX_IDS, `must name at most ${MAX_IDS} matches`)
      .optional(),
    status: z
      .enum(['failed', 'skipped', 'delivered', 'pending'])
      .optional()
      .describe('`pending`: sends now what waits for a later attempt. Without it all but these.'),
    since: queryTime.optional(),
  })
  .superRefine(({ match_ids, status, since }, context) => {
    if (match_ids === undefined && status === undefined && since === undefined) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'give match_ids, or status, or since' });
    }
    if (match_ids !== undefined && (status !== undefined || since !== undefined)) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'cannot be combined with status or since' });
    }
  });

/** Answer of POST /v1/monitors/{id}/redeliver. */
export const redelivery = z.strictObject({
  /** Matches that this request queued. */
  queued: z.number().int().min(0),
  /** Whether further matches fit the request. If so, send it again. */
  more: z.boolean(),
  reason: z
    .enum(['nothing_fits', 'waiting', 'due'])
    .optional()
    .describe(
      'Why `queued` is 0. `nothing_fits`: no match fits the request. `waiting`: nothing fits, but matches wait for their next attempt; `status` `pending` sends them now. `due`: what waits is being sent already.',
    ),
});

export type Redelivery = z.infer<typeof redelivery>;
