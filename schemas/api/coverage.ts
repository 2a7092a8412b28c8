import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';

const count = z.number().int().min(0);
const share = z.number().min(0).max(1);
const kinds = z.strictObject({ posts: count, comments: count });

/** What is known of a range of time. Items count by their first sight, completeness by the time of creation. */
const figures = {
  seen: z.strictObject({ posts: count, comments: count, by_source: z.record(z.string(), kinds) }),
  late: count,
  tombstones: count,
  completeness: z.strictObject({
    posts: z.strictObject({ share, found: count, unread: count }).nullable(),
    comments: z.strictObject({ share, low: share, high: share, threads: count }).nullable(),
  }),
  lag_seconds: z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable(),
  gaps: z.strictObject({ opened: count, closed: count, open: count }),
  budget: z.strictObject({
    allowed: count.nullable(),
    used: count,
    by_lane: z.record(z.string(), z.strictObject({ used: count, refused: count })),
  }),
};

export const coverageHour = z.strictObject({
  /** Start of the hour. */
  hour: timestamp,
  /** When the figures of the archive last changed; null: nothing is known of the hour. */
  measured_at: timestamp.nullable(),
  ...figures,
});

export type CoverageHour = z.infer<typeof coverageHour>;

export const coverageTotal = z.strictObject(figures);

export type CoverageTotal = z.infer<typeof coverageTotal>;

/** A stretch that a source may have missed. */
export const coverageGap = z.strictObject({
  id: z.string(),
  source: z.string(),
  reason: z.string(),
  opened_at: timestamp,
  closed_at: timestamp.nullable(),
  outcome: z.enum(['filled', 'given_up']).nullable(),
  created_from: timestamp.nullable(),
  created_to: timestamp.nullable(),
  after: z.string().nullable(),
  before: z.string().nullable(),
  found: count,
});

export type CoverageGap = z.infer<typeof coverageGap>;

/** Answer of GET /v1/coverage. */
export const coverage = z.strictObject({
  from: timestamp,
  to: timestamp,
  hours: z.array(coverageHour),
  total: coverageTotal,
  /** The newest 200. */
  gaps: z.array(coverageGap),
  /** All gaps that were open at some time of the range. */
  gap_count: count,
});

export type Coverage = z.infer<typeof coverage>;

const TIME = 'must be a time like 2026-03-04T10:00:00Z';
/** A day before the year 0 has no form in the answer. */
const time = z.iso.datetime({ offset: true, error: TIME }).refine((text) => !text.startsWith('0000'), TIME);

/** Query of GET /v1/coverage. The service checks that the times fit together. */
export const coverageQuery = z.strictObject({
  from: time
    .optional()
    .describe('Start of the range, cut to its hour. Default: 24 hours before `to`. At most 31 days before `to`.'),
  to: time.optional().describe('End of the range, up to the end of its hour. Default: now.'),
});
