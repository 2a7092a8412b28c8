import type { Timeseries } from '../../../../schemas/api/trends.ts';

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
};
