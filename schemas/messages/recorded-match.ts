import { z } from 'zod';
import { itemContent, timestamp } from './forum-item.ts';

/** Why a match was suppressed that is not over the daily cap: its thread had a match of the monitor that day. */
export const suppressedReason = z.enum(['thread_once']);
export type SuppressedReason = z.infer<typeof suppressedReason>;

export const deliveryStatus = z.enum(['none', 'pending', 'delivered', 'failed', 'skipped']);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

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
