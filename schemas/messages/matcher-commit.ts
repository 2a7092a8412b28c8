import { z } from 'zod';

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
