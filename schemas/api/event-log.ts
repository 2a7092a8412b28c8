import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { digest, spike } from '../messages/monitor-event.ts';
import { storableString } from './given-name.ts';
import { queryInteger } from './query-integer.ts';

/** A digest without its matches, which are pages of matches. */
const digestRange = digest.pick({ interval: true, count: true, url: true }).extend({
  /** The match before its first one; null: it began with the first match of the monitor. */
  after: z.string().nullable(),
  /** Its last match. */
  until: z.string(),
});

/** One event of a monitor that is no single match. */
export const eventLogEntry = z
  .strictObject({
    id: z.string().describe('As in `webhook-id` and `X-Service-Delivery` of its deliveries.'),
    type: z.enum(['monitor.spike', 'monitor.digest']),
    created_at: timestamp.describe('When it was stored; it is first sent within about a second of that.'),
    delivery_status: z
      .enum(['pending', 'delivered', 'failed', 'skipped'])
      .describe(
        '`pending`: waiting to be sent or retried; `delivered`; `failed`: failed for good; `skipped`: the monitor had no webhook any more.',
      ),
    attempts: z.number().int().min(0).describe('Made so far.'),
    last_attempt_at: timestamp.nullable(),
    last_status: z
      .number()
      .int()
      .min(0)
      .nullable()
      .describe(
        'The status that the endpoint answered to the last attempt; 0 without an answer, null without an attempt.',
      ),
    last_error: z
      .string()
      .nullable()
      .describe('Why the last attempt failed, in the words of the log of deliveries; null when it succeeded.'),
    next_attempt_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    spike: spike.optional().describe('Of `monitor.spike`: the spike as it is sent.'),
    digest: digestRange
      .optional()
      .describe(
        'Of `monitor.digest`. `count`: its matches. `after`: the match before the first one, null when there is none. `until`: its last match. Matches between them that were suppressed or backfilled are not part of it.',
      ),
  })
  .meta({ id: 'EventLogEntry' });

export type EventLogEntry = z.infer<typeof eventLogEntry>;

/** Newest event first. */
export const eventLogPage = z
  .strictObject({
    items: z.array(eventLogEntry),
    after: z.string().nullable().describe('Send it as `after` to get the next, older page; null on the last page.'),
  })
  .meta({ id: 'EventLogPage' });

export type EventLogPage = z.infer<typeof eventLogPage>;

/** Query of GET /v1/monitors/{id}/events. */
export const eventLogQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Events per page.'),
  after: storableString
    .min(1, 'must not be empty')
    .optional()
    .describe('The `after` of the previous page: returns the events before its last one.'),
});
