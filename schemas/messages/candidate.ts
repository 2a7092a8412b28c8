import { z } from 'zod';
import { itemContent, timestamp } from './forum-item.ts';

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
  /** Offset at which the next owner must start reading to fill its ring. */
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
