import type { Route } from '../../http/route.ts';
import { ArchiveTurns } from './archive-turns.ts';
import { showLatency } from './latency.ts';
import { showTimeseries } from './timeseries.ts';
import type { TrendDeps } from './trend-deps.ts';

/** What a monitor found over time, and how fast. Free, so what they ask of the archive is bounded. */
export function trendRoutes(deps: TrendDeps): Route[] {
  const turns = new ArchiveTurns();
  return [
    {
      method: 'get',
      path: '/v1/monitors/:id/timeseries',
      scope: 'monitors:read',
      readsQuery: true,
      handle: (call) => showTimeseries(deps, turns, call),
    },
    {
      method: 'get',
      path: '/v1/monitors/:id/latency',
      scope: 'monitors:read',
      readsQuery: true,
      handle: (call) => showLatency(deps, turns, call),
    },
  ];
}
