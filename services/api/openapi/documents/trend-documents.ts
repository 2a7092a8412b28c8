import { latencyQuery, timeseriesQuery } from '../../../../schemas/api/trends.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import { trendExamples as examples } from '../examples/trend-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const ID = { description: 'Id of a monitor.', example: monitorExamples.id };

/** The routes about what a monitor found over time. */
export const trendDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/monitors/:id/timeseries',
    operationId: 'getTimeseries',
    tag: 'Monitors',
    id: ID,
    query: timeseriesQuery,
    example: { interval: 'hour', by: 'subreddit' },
    summary: "Count a monitor's matches over time",
    description:
      'Matches of the last 30 days by hour or day, by the time at which their post or comment was first seen; suppressed and backfilled matches count too. The 20 keywords and the 20 communities with the most matches of the range have items of their own; the others share items with null. `spikes` are hours with at least 10 matches that are far above the same hour of the 14 to 28 days before; days on which the monitor did not watch all of that hour with the same rule are left out, so a monitor or rule younger than 14 days has none. Free.',
    answers: [
      {
        status: 200,
        description: 'The counts.',
        content: [{ schema: 'Timeseries', examples: { hours: examples.hours, empty: examples.empty } }],
      },
    ],
    errors: ['invalid_request', 'not_found'],
  },
  {
    method: 'get',
    path: '/v1/monitors/:id/latency',
    operationId: 'getLatency',
    tag: 'Monitors',
    id: ID,
    query: latencyQuery,
    example: { days: 7 },
    summary: "Show how fast a monitor's matches arrive",
    description:
      'For each UTC day, the newest first, how long the steps of a match took: from its creation on the forum to its first sight, to the recorded match, to the delivery; and how long the receiver took to answer. Medians, 90th and 99th percentiles in milliseconds; null where nothing was measured. Backfilled matches are left out; days without any measurement have no item. Free.',
    answers: [
      {
        status: 200,
        description: 'The days.',
        content: [{ schema: 'Latency', examples: { days: examples.latency } }],
      },
    ],
    errors: ['invalid_request', 'not_found'],
  },
];
