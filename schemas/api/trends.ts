import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { queryInteger } from './query-integer.ts';
import { queryTime } from './query-time.ts';

const count = z.number().int().min(0);

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
    .describe('What the matches of an interval are counted by.'),
  from: queryTime
    .optional()
    .describe(
      'Start of the range, cut to its interval. Default: 7 days before `to` for hours, 30 days for days. At most 31 days before `to`.',
    ),
  to: queryTime.optional().describe('End of the range, up to the end of its interval. Default: now.'),
});

export const timeseriesItem = z.strictObject({
  at: timestamp,
  keyword: z.string().nullable(),
  subreddit: z.string().nullable(),
  count: z.number().int().min(1),
});

export const spike = z.strictObject({
  at: timestamp,
  count,
  median: z.number().min(0),
  scale: z.number().min(1),
  score: z.number().min(0),
  days: z.number().int().min(14).max(28),
});

export type SpikeResource = z.infer<typeof spike>;

/** Answer of GET /v1/monitors/{id}/timeseries. */
export const timeseries = z.strictObject({
  interval: z.enum(['hour', 'day']),
  from: timestamp,
  to: timestamp,
  as_of: timestamp,
  items: z.array(timeseriesItem),
  truncated: z.boolean(),
  spikes: z.array(spike),
});

export type Timeseries = z.infer<typeof timeseries>;

/** Query of GET /v1/monitors/{id}/latency. */
export const latencyQuery = z.strictObject({
  days: queryInteger(1, 30).default(7).describe('How many days to answer, with today, in UTC.'),
});

/** Milliseconds, as the quantiles of `count` measurements. */
const quantiles = z.strictObject({ count: z.number().int().min(1), p50: count, p90: count, p99: count });

export type Quantiles = z.infer<typeof quantiles>;

export const latencyDay = z.strictObject({
  day: z.iso.date(),
  created_to_seen_ms: quantiles.nullable(),
  seen_to_recorded_ms: quantiles.nullable(),
  recorded_to_delivered_ms: quantiles.nullable(),
  receiver_ms: quantiles.nullable(),
});

export type LatencyDay = z.infer<typeof latencyDay>;

/** Answer of GET /v1/monitors/{id}/latency. */
export const latency = z.strictObject({ as_of: timestamp, items: z.array(latencyDay) });

export type Latency = z.infer<typeof latency>;
