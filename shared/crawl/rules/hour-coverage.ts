import { z } from 'zod';

const count = z.number().int().min(0);
const share = z.number().min(0).max(1);

/** What is known of an hour, as stored. Times of an hour are UTC. */
export const hourCoverage = z.object({
  /** Items first seen in the hour, by source. */
  seen: z.record(z.string(), z.object({ posts: count, comments: count })),
  /** Those first seen more than two minutes after their creation. */
  late: count,
  /** Their lags from creation to first sight (lag-histogram.ts), without items of dump files. */
  lags: z.record(z.string(), count),
  /** Things that the forum removed in the hour. */
  tombstones: count,
  /** Posts created in the hour: found, and ids that were not read; null while nobody walks the post ids. */
  posts: z.object({ found: count, unread: count }).nullable(),
  /** Comments created in the hour, by the audit; null before it has read any of their threads. */
  comments: z.object({ share, low: share, high: share, threads: count, comments: z.number().min(0) }).nullable(),
});

export type HourCoverage = z.infer<typeof hourCoverage>;
