import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { webhookKind } from './monitor.ts';
import { queryInteger } from './query-integer.ts';
import { queryTime } from './query-time.ts';

/** One attempt to deliver one match. */
export const deliveryLogEntry = z
  .strictObject({
    match_id: z.string(),
    attempt: z.number().int().min(1).describe('1, 2, 3 …, continued by resends.'),
    started_at: timestamp,
    duration_ms: z.number().int().min(0),
    webhook_kind: webhookKind,
    host: z.string().describe('Host and port of the webhook.'),
    status: z.number().int().min(0).describe("The status of the endpoint's answer; 0 without an answer."),
    error: z
      .string()
      .nullable()
      .describe(
        'Why the attempt failed; null when it succeeded. `http_status`: the answer was not 2xx. Without an answer: `timeout`, `dns`, `connect`, `tls`, `blocked_address` (not public) or `secret_unreadable`.',
      ),
    response_excerpt: z.string().nullable().describe('The first 500 characters of the answer.'),
    delivery_status: z
      .enum(['pending', 'delivered', 'failed'])
      .describe("The match's delivery state after the attempt; `pending`: it is retried at `next_attempt_at`."),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: 'DeliveryLogEntry' });

export type DeliveryLogEntry = z.infer<typeof deliveryLogEntry>;

/** Newest match first; within a match, newest attempt first. */
export const deliveryLogPage = z
  .strictObject({
    items: z.array(deliveryLogEntry),
    after: z.string().nullable().describe('Send it as `after` to get the next, older page; null on the last page.'),
  })
  .meta({ id: 'DeliveryLogPage' });

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
      .optional()
      .describe('At most 200 matches of this monitor. Cannot be combined with other fields.'),
    status: z
      .enum(['failed', 'skipped', 'delivered', 'pending'])
      .optional()
      .describe('`pending`: sends now what waits for a later attempt. Without it all but these.')
      .describe('All matches with this delivery state.'),
    since: queryTime.optional().describe('All matches recorded at this time or later.'),
  })
  .superRefine(({ match_ids, status, since }, context) => {
    if (match_ids === undefined && status === undefined && since === undefined) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'give match_ids, or status, or since' });
    }
    if (match_ids !== undefined && (status !== undefined || since !== undefined)) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'cannot be combined with status or since' });
    }
  })
  .meta({ id: 'Redeliver' });

/** Answer of POST /v1/monitors/{id}/redeliver. */
export const redelivery = z
  .strictObject({
    queued: z
      .number()
      .int()
      .min(0)
      .describe('Matches that this request queued; with `status` `pending`, those that it made due.'),
    more: z.boolean().describe('More matches fit the request: send it again.'),
    reason: z
      .enum(['nothing_fits', 'waiting', 'due'])
      .optional()
      .describe(
        'Why `queued` is 0. `nothing_fits`: no match fits the request. `waiting`: nothing fits, but matches wait for their next attempt; `status` `pending` sends them now. `due`: what waits is being sent already.',
      ),
  })
  .meta({ id: 'Redelivery' });

export type Redelivery = z.infer<typeof redelivery>;
