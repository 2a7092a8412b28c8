import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { digest, spike } from '../messages/monitor-event.ts';
import { matchId } from '../messages/monitor-match.ts';
import { queryInteger, queryTime, storableString } from './common.ts';
import { webhookKind } from './monitors.ts';

export const deliveryLogEntry = z
  .strictObject({
    match_id: matchId,
    attempt: z.number().int().min(1).describe('1, 2, 3 … Resends continue the count.').meta(example(1)),
    started_at: timestamp,
    duration_ms: count.meta(example(212)),
    webhook_kind: webhookKind,
    host: z.string().describe('Host and port of the webhook.').meta(example('example.com')),
    status: count.describe("The HTTP status of the endpoint's response; 0: no response.").meta(example(503)),
    error: z
      .string()
      .nullable()
      .describe(
        'Why the attempt failed; null when it succeeded. `http_status`: the response was not 2xx. Without a response: `timeout`, `dns`, `connect`, `tls`, `blocked_address` (not public) or `secret_unreadable`.',
      )
      .meta(example('http_status')),
    response_excerpt: z
      .string()
      .nullable()
      .describe('The first 500 characters of the response.')
      .meta(example('Back in a minute.')),
    delivery_status: z
      .enum(['pending', 'delivered', 'failed'])
      .describe(
        'The delivery state of the match after the attempt. `pending`: it will be retried at `next_attempt_at`.',
      ),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: 'DeliveryLogEntry' });

export type DeliveryLogEntry = z.infer<typeof deliveryLogEntry>;

/** Newest match first; within a match, newest attempt first. */
export const deliveryLogPage = z
  .strictObject({
    items: z.array(deliveryLogEntry),
    after: z
      .string()
      .nullable()
      .describe('Send it as `after` to get the next page of older entries; null on the last page.'),
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
    .describe('The `after` of the previous page; returns the attempts that follow.'),
  match: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('A match id; returns only the attempts of that match.'),
  status: z
    .enum(['pending', 'delivered', 'failed'])
    .optional()
    .describe(
      'Only attempts with this `delivery_status`; `pending`: failed and waiting for a retry. A filtered page may be empty and still have an `after`.',
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
      .describe(
        'Ids of up to 200 matches of this monitor. Cannot be combined with other fields. One of `match_ids`, `status` and `since` is required.',
      ),
    status: z
      .enum(['failed', 'skipped', 'delivered', 'pending'])
      .optional()
      .describe(
        'All matches with this delivery state; with `since` alone, all except `pending`. `pending`: sends now what is waiting for a retry.',
      ),
    since: queryTime.optional().describe('Only matches recorded at this time or later.'),
  })
  .superRefine(({ match_ids, status, since }, context) => {
    if (match_ids === undefined && status === undefined && since === undefined) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'give match_ids, or status, or since' });
    }
    if (match_ids !== undefined && (status !== undefined || since !== undefined)) {
      context.addIssue({ code: 'custom', path: ['match_ids'], message: 'cannot be combined with status or since' });
    }
  })
  .meta({ id: 'Redeliver', ...example({ status: 'failed', since: '2026-03-04T00:00:00Z' }) });

/** Response of POST /v1/monitors/{id}/redeliver. */
export const redelivery = z
  .strictObject({
    queued: count.describe(
      'Matches queued by this request; with `status` set to `pending`, matches that are now sent early.',
    ),
    more: z.boolean().describe('Whether more matches fit the request. If true, send it again.'),
    reason: z
      .enum(['nothing_fits', 'waiting', 'due'])
      .optional()
      .describe(
        'Why `queued` is 0. `nothing_fits`: no match fits the request. `waiting`: nothing fits, but matches are waiting for their next attempt; set `status` to `pending` to send them now. `due`: the waiting matches are already being sent.',
      ),
  })
  .meta({ id: 'Redelivery' });

export type Redelivery = z.infer<typeof redelivery>;

/** A digest without its matches, which are pages of matches. */
const digestRange = digest.pick({ interval: true, count: true, url: true }).extend({
  /** The match before its first one; null: it began with the first match of the monitor. */
  after: z.string().nullable(),
  /** Its last match. */
  until: z.string(),
});

/** A spike or digest of a monitor. */
export const eventLogEntry = z
  .strictObject({
    id: z
      .string()
      .describe('As in `webhook-id` and `X-Service-Delivery` of its deliveries.')
      .meta(example('evt_7t2m9qk4x1c8v5n3b6d0')),
    type: z.enum(['monitor.spike', 'monitor.digest']),
    created_at: timestamp.describe('When the event was stored. The first attempt follows within about a second.'),
    delivery_status: z
      .enum(['pending', 'delivered', 'failed', 'skipped'])
      .describe(
        '`pending`: waiting to be sent or retried. `delivered`. `failed`: failed permanently. `skipped`: the monitor no longer had a webhook.',
      )
      .meta(example('delivered')),
    attempts: count.describe('Attempts made so far.'),
    last_attempt_at: timestamp.nullable(),
    last_status: count
      .nullable()
      .describe('The HTTP status of the response to the last attempt. 0: no response. null: no attempt yet.')
      .meta(example(204)),
    last_error: z
      .string()
      .nullable()
      .describe('Why the last attempt failed, with the values of the delivery log; null when it succeeded.'),
    next_attempt_at: timestamp.nullable().meta(example(null)),
    delivered_at: timestamp.nullable(),
    spike: spike.optional().describe('Only for `monitor.spike`: the spike, as it is sent.'),
    digest: digestRange
      .optional()
      .describe(
        'Only for `monitor.digest`. `count`: the number of its matches. `after`: the match before the first one, null when there is none. `until`: the last match. Suppressed and backfilled matches in this range are not part of it.',
      ),
  })
  .meta({ id: 'EventLogEntry' });

export type EventLogEntry = z.infer<typeof eventLogEntry>;

/** Newest event first. */
export const eventLogPage = z
  .strictObject({
    items: z.array(eventLogEntry),
    after: z
      .string()
      .nullable()
      .describe('Send it as `after` to get the next page of older entries; null on the last page.'),
  })
  .meta({ id: 'EventLogPage' });

export type EventLogPage = z.infer<typeof eventLogPage>;

/** Query of GET /v1/monitors/{id}/events. */
export const eventLogQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Events per page.'),
  after: storableString
    .min(1, 'must not be empty')
    .optional()
    .describe('The `after` of the previous page; returns older events.'),
});

/** Response of POST /v1/monitors/{id}/test. */
export const testDelivery = z
  .strictObject({
    delivered: z.boolean().describe('Whether the endpoint responded with 2xx.').meta(example(true)),
    status: count.describe('The HTTP status of the response; 0: no response.').meta(example(204)),
    error: z
      .enum([
        'timeout',
        'dns',
        'tls',
        'connect',
        'blocked_address',
        'redirect',
        'http_status',
        'local',
        'secret_unreadable',
      ])
      .nullable()
      .describe(
        'Why it failed, with the values of the delivery log; null when it succeeded. `http_status`: the response was not 2xx. `redirect`: redirects are not followed. `local`: a problem on our side prevented sending. `secret_unreadable`: the operator must restore a key.',
      )
      .meta(example(null)),
  })
  .meta({ id: 'TestDelivery' });

export type TestDelivery = z.infer<typeof testDelivery>;
