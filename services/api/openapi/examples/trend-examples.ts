import type { Latency, Timeseries } from '../../../../schemas/api/trends.ts';

const range = { from: '2026-03-04T08:00:00.000Z', to: '2026-03-04T11:00:00.000Z', as_of: '2026-03-04T10:30:00.000Z' };

/** Answers of the routes about what a monitor found over time, invented. */
export const trendExamples = {
  hours: {
    interval: 'hour',
    ...range,
    items: [
      { at: '2026-03-04T08:00:00.000Z', keyword: null, subreddit: 'Coffee', count: 4 },
      { at: '2026-03-04T08:00:00.000Z', keyword: null, subreddit: null, count: 1 },
      { at: '2026-03-04T10:00:00.000Z', keyword: null, subreddit: 'Coffee', count: 41 },
      { at: '2026-03-04T10:00:00.000Z', keyword: null, subreddit: 'espresso', count: 7 },
    ],
    truncated: false,
    spikes: [{ at: '2026-03-04T10:00:00.000Z', count: 48, median: 6, scale: 2.97, score: 14.16, days: 27 }],
  } satisfies Timeseries,
  empty: { interval: 'day', ...range, items: [], truncated: false, spikes: [] } satisfies Timeseries,
  latency: {
    as_of: range.as_of,
    items: [
      {
        day: '2026-03-04',
        created_to_seen_ms: { count: 53, p50: 2_140, p90: 4_820, p99: 11_300 },
        seen_to_recorded_ms: { count: 53, p50: 130, p90: 240, p99: 610 },
        recorded_to_delivered_ms: { count: 52, p50: 310, p90: 730, p99: 10_420 },
        receiver_ms: { count: 55, p50: 180, p90: 420, p99: 990 },
      },
      {
        day: '2026-03-03',
        created_to_seen_ms: null,
        seen_to_recorded_ms: { count: 4, p50: 140, p90: 260, p99: 260 },
        recorded_to_delivered_ms: null,
        receiver_ms: null,
      },
    ],
  } satisfies Latency,
};
