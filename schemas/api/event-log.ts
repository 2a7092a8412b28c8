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
export const eventLogEntry = z.strictObject({
  id: z.string(),
  type: z.enum(['monitor.spike', 'monitor.digest']),
  created_at: timestamp,
  delivery_status: z.enum(['pending', 'delivered', 'failed', 'skipped']),
  attempts: z.number().int().min(0),
  last_attempt_at: timestamp.nullable(),
  last_status: z.number().int().min(0).nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: timestamp.nullable(),
  delivered_at: timestamp.nullable(),
  spike: spike.optional(),
  digest: digestRange.optional(),
});

export type EventLogEntry = z.infer<typeof eventLogEntry>;

/** Newest event first. */
export const eventLogPage = z.strictObject({
  items: z.array(eventLogEntry),
  /** Cursor of the next, older page; null on the last page. */
  after: z.string().nullable(),
});

export type EventLogPage = z.infer<typeof eventLogPage>;

/** Query of GET /v1/monitors/{id}/events. */
export const eventLogQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Events per page.'),
  after: storableString
    .min(1, 'must not be empty')
    .optional()
    .describe('The `after` of the previous page: returns the events before its last one.'),
});
