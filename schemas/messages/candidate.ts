import { z } from 'zod';
import { itemContent, timestamp } from './forum-item.ts';

/** UTF-16 code units [start, end) of the item's title or body as it was written. */
const matchPosition = z.object({
  field: z.enum(['title', 'body']),
  start: z.number().int().nonnegative(),
  end: z.number().int().positive(),
});

/**
 * Value of monitor.candidates: a monitor's rule holds for an item. Key: monitor_id. The recorder decides what becomes
 * of it.
 */
export const candidate = z.object({
  v: z.literal(1),
  monitor_id: z.string(),
  /** Version of the rule that matched. */
  monitor_version: z.number().int().min(1),
  /** Keywords as the user wrote them, in the monitor's order, each once. */
  matched_terms: z.array(z.string()).min(1),
  /** Where each of the matched terms occurs first, in their order. Older messages lack it. */
  match_positions: z.array(matchPosition).optional(),
  /** The broker's append time of the item. */
  entered_at: timestamp,
  first_seen_at: timestamp,
  replay: z.boolean(),
  item: itemContent,
});

export type Candidate = z.infer<typeof candidate>;
