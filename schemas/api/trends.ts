import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { queryInteger, queryTime } from './common.ts';

/** Query of GET /v1/monitors/{id}/timeseries. The service checks that the times fit together. */
export const timeseriesQuery = z.strictObject({
  interval: z
    .enum(['hour', 'day'], 'must be hour or day')
    .default('day')
    .describe('Length of an interval. Hours and days begin in UTC.'),
  by: z
    .enum(['total', 'keyword', 'subreddit', 'keyword_subreddit'], {
      error: 'must be total, keyword, subreddit or keyword_subreddit',
    })
    .default('keyword_subreddit')
    .describe('What to count the matches of an interval by.'),
  from: queryTime
    .optional()
    .describe(
      'Start of the range, rounded down to the interval. Default: 7 days before `to` for hours, 30 days for days. At most 31 days before `to`.',
    ),
  to: queryTime.optional().describe('End of the range, rounded up to the interval. Default: now.'),
});

export const timeseriesItem = z
  .strictObject({
    at: timestamp.describe('Start of the interval.'),
    keyword: z
      .string()
      .nullable()
      .describe(
        'The keyword or term as written in the monitor. null: all of them, or all that have no items of their own.',
      ),
    subreddit: z
      .string()
      .nullable()
      .describe('The community. null: all of them, or all that have no items of their own.')
      .meta(example('Coffee')),
    count: z
      .number()
      .int()
      .min(1)
      .describe(
        'The number of matches. A match counts for each of its keywords, so the sum over keywords can exceed the number of matches.',
      )
      .meta(example(48)),
  })
  .meta({ id: 'TimeseriesItem' });

export const spike = z
  .strictObject({
    at: timestamp.describe('Start of the hour.'),
    count: count
      .describe(
        'Matches in the hour, without backfilled ones and without items first seen more than an hour after their creation.',
      )
      .meta(example(48)),
    median: z.number().min(0).describe('The median of the same hour on previous days.').meta(example(6)),
    scale: z
      .number()
      .min(1)
      .describe('The usual distance from the median: the largest of 1.4826·MAD, √median and 1.')
      .meta(example(2.97)),
    score: z.number().min(0).describe('(count − median) / scale; at least 5.').meta(example(14.16)),
    days: z.number().int().min(14).max(28).describe('How many days the hour was compared with.').meta(example(27)),
  })
  .meta({ id: 'Spike' });

export type SpikeResource = z.infer<typeof spike>;

/** Response of GET /v1/monitors/{id}/timeseries. */
export const timeseries = z
  .strictObject({
    interval: z.enum(['hour', 'day']),
    from: timestamp.describe('Start of the first interval; later than requested when `truncated`.'),
    to: timestamp.describe('End of the last interval.').meta(example('2026-03-04T11:00:00.000Z')),
    as_of: timestamp.describe(
      'When the counts were computed. Matches are counted a few seconds after they are recorded.',
    ),
    items: z
      .array(timeseriesItem)
      .describe('Counts in ascending order of interval, then by count. Counts of 0 are omitted.'),
    truncated: z
      .boolean()
      .describe(
        'Whether the oldest intervals were omitted because of the limit of 10,000 items. Request them with `to` set to the `from` of this response.',
      ),
    spikes: z.array(spike).describe('Hours of the range with unusually many matches, in ascending order.'),
  })
  .meta({ id: 'Timeseries' });

export type Timeseries = z.infer<typeof timeseries>;

/** Query of GET /v1/monitors/{id}/latency. */
export const latencyQuery = z.strictObject({
  days: queryInteger(1, 30).default(7).describe('How many days to return, including today, in UTC.'),
});

/** Milliseconds, as the quantiles of `count` measurements. */
const quantiles = z
  .strictObject({ count: z.number().int().min(1), p50: count, p90: count, p99: count })
  .meta(example({ count: 53, p50: 310, p90: 730, p99: 10_420 }));

export type Quantiles = z.infer<typeof quantiles>;

export const latencyDay = z
  .strictObject({
    day: z.iso
      .date()
      .describe('The UTC date of the recording; for `receiver_ms`, of the attempt.')
      .meta(example('2026-03-04')),
    created_to_seen_ms: quantiles
      .nullable()
      .describe('Milliseconds from creation on the forum to first sight, without items from dump files.'),
    seen_to_recorded_ms: quantiles.nullable().describe('Milliseconds from first sight to the recorded match.'),
    recorded_to_delivered_ms: quantiles
      .nullable()
      .describe(
        "Milliseconds from the recorded match to the receiver's first successful response, including all retries before it.",
      ),
    receiver_ms: quantiles
      .nullable()
      .describe('Milliseconds that the receiver took to respond, over all attempts with a response.'),
  })
  .meta({ id: 'LatencyDay' });

export type LatencyDay = z.infer<typeof latencyDay>;

/** Response of GET /v1/monitors/{id}/latency. */
export const latency = z.strictObject({ as_of: timestamp, items: z.array(latencyDay) }).meta({ id: 'Latency' });

export type Latency = z.infer<typeof latency>;
