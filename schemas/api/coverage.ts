import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';

const share = z.number().min(0).max(1);
const kinds = z.strictObject({ posts: count, comments: count });

/** What is known of a range of time. Items count by their first sight, completeness by the time of creation. */
const figures = {
  seen: z
    .strictObject({ posts: count, comments: count, by_source: z.record(z.string(), kinds) })
    .describe(
      'Posts and comments first seen in this time, in total and by the source that saw them first: `post-ids`, `listings`, `threads`, `comment-ids` or `replay`.',
    )
    .meta(example({ posts: 58_894, comments: 466_020, by_source: { listings: { posts: 58_894, comments: 466_020 } } })),
  late: count.describe('Those first seen more than two minutes after their creation.'),
  tombstones: count.describe('Items that the forum removed in this time. Their text and author are removed here too.'),
  completeness: z
    .strictObject({
      posts: z.strictObject({ share, found: count, unread: count }).nullable(),
      comments: z.strictObject({ share, low: share, high: share, threads: count }).nullable(),
    })
    .describe(
      'The share of the posts and comments created in this time that were seen; null where it is not known. Posts: measured by their sequential ids; `unread` ids were never requested and count as missed. Comments: estimated from randomly chosen threads (`threads`) that were read completely some time later, with the bounds of the 95 % confidence interval.',
    )
    .meta(
      example({
        posts: { share: 1, found: 58_894, unread: 0 },
        comments: { share: 0.991, low: 0.984, high: 0.995, threads: 412 },
      }),
    ),
  lag_seconds: z
    .strictObject({ p50: z.number(), p95: z.number(), p99: z.number() })
    .nullable()
    .describe(
      'From creation to first sight: median, 95th and 99th percentile, each accurate to 2 %. null without items.',
    )
    .meta(example({ p50: 2.1, p95: 14.7, p99: 96.4 })),
  gaps: z
    .strictObject({ opened: count, closed: count, open: count })
    .describe('Gaps that were opened and closed in this time, and those still open at its end.')
    .meta(example({ opened: 1, closed: 1, open: 0 })),
  budget: z
    .strictObject({
      allowed: count.nullable(),
      used: count,
      by_lane: z.record(z.string(), z.strictObject({ used: count, refused: count })),
    })
    .describe(
      'Calls to the forum: `allowed` by its limits (null: not known), `used`, and by purpose. `refused`: how often a purpose had to wait because the calls were needed for other purposes; it tries again later.',
    )
    .meta(example({ allowed: 24_000, used: 9_940, by_lane: { live: { used: 9_940, refused: 0 } } })),
};

export const coverageHour = z
  .strictObject({
    hour: timestamp.describe('Start of the hour.'),
    measured_at: timestamp
      .nullable()
      .describe('When the figures last changed. null: nothing was measured, so ignore the figures.'),
    ...figures,
  })
  .meta({ id: 'CoverageHour' });

export type CoverageHour = z.infer<typeof coverageHour>;

export const coverageTotal = z.strictObject(figures).meta({ id: 'CoverageTotal' });

export type CoverageTotal = z.infer<typeof coverageTotal>;

/** A stretch that a source may have missed. */
export const coverageGap = z
  .strictObject({
    id: z.string().meta(example('1207')),
    source: z.string().describe('The source that may have missed something.').meta(example('listings:comments')),
    reason: z.string().describe('The reason, as a single word.').meta(example('overflow')),
    opened_at: timestamp,
    closed_at: timestamp.nullable(),
    outcome: z
      .enum(['filled', 'given_up'])
      .nullable()
      .describe(
        '`filled`: everything that can be found was found. `given_up`: no longer searched for. null: still open.',
      ),
    created_from: timestamp.nullable().describe('The earliest creation time of what is missing; null: not known.'),
    created_to: timestamp.nullable().describe('The latest creation time of what is missing; null: not known.'),
    after: z.string().nullable().describe('The last item seen before the gap; null: unknown.'),
    before: z.string().nullable().describe('The first item seen after the gap; null: unknown.'),
    found: count.describe('Items of the gap that were found later.'),
  })
  .meta({ id: 'CoverageGap' });

export type CoverageGap = z.infer<typeof coverageGap>;

/** Response of GET /v1/coverage. */
export const coverage = z
  .strictObject({
    from: timestamp.describe('Start of the first hour.'),
    to: timestamp.describe('End of the last hour.').meta(example('2026-03-04T11:00:00.000Z')),
    hours: z.array(coverageHour).describe('Every hour of the range, oldest first.'),
    total: coverageTotal.describe('All hours together.'),
    gaps: z.array(coverageGap).describe('The newest 200 gaps that were open at any time in the range, newest first.'),
    gap_count: count.describe('The number of all gaps that were open at any time in the range.'),
  })
  .meta({ id: 'Coverage' });

export type Coverage = z.infer<typeof coverage>;

const TIME = 'must be a time like 2026-03-04T10:00:00Z';
/** The response cannot express times before the year 0. */
const time = z.iso.datetime({ offset: true, error: TIME }).refine((text) => !text.startsWith('0000'), TIME);

/** Query of GET /v1/coverage. The service checks that the times fit together. */
export const coverageQuery = z.strictObject({
  from: time
    .optional()
    .describe(
      'Start of the range, rounded down to the hour. Default: 24 hours before `to`. At most 31 days before `to`.',
    ),
  to: time.optional().describe('End of the range, rounded up to the hour. Default: now.'),
});
