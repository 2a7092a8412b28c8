import type { z } from 'zod';
import { timeseriesQuery } from '../../../../schemas/api/trends.ts';
import type { Timeseries } from '../../../../schemas/api/trends.ts';
import { comparableHours } from '../../../../shared/domain/spikes/comparable-hours.ts';
import { findSpikes } from '../../../../shared/domain/spikes/find-spikes.ts';
import { spikeResource } from '../../../../shared/domain/spikes/spike-resource.ts';
import { countMatchesByHour, countMatchSeries } from '../../../../shared/stores/matches/match-series.ts';
import type { SeriesRow } from '../../../../shared/stores/matches/match-series.ts';
import { readMonitorHistory } from '../../../../shared/stores/monitors/monitor-history.ts';
import { parseRequest } from '../../http/invalid-request.ts';
import type { Answer, Call } from '../../http/route.ts';
import { findMonitor } from '../find-monitor.ts';
import type { ArchiveTurns } from './trend-routes.ts';
import { KEPT_MS, seriesRange } from './series-range.ts';
import type { SeriesRange } from './series-range.ts';
import type { TrendDeps } from './trend-deps.ts';

/** How many keywords and communities have rows of their own. A rule has at most 20 keywords. */
const MAX_GROUPS = 20;
const MAX_ROWS = 10_000;

type SeriesRequest = z.output<typeof timeseriesQuery>;

/** Answers GET /v1/monitors/{id}/timeseries: the matches of a monitor by time, and its spikes. */
export async function showTimeseries(deps: TrendDeps, turns: ArchiveTurns, call: Call): Promise<Answer> {
  const request = parseRequest(timeseriesQuery, call.query, 'query');
  const now = deps.clock();
  const range = seriesRange(request, now);
  await findMonitor(deps.pool, call.caller.accountId, call.id);
  const history = await readMonitorHistory(deps.pool, call.id);
  const knownSince = now - KEPT_MS;
  const { rows, counts } = await turns(call, async (signal) => ({
    rows: await countMatchSeries(deps.clickhouse, {
      ...range,
      monitorId: call.id,
      interval: request.interval,
      byKeyword: request.by === 'keyword' || request.by === 'keyword_subreddit',
      bySubreddit: request.by === 'subreddit' || request.by === 'keyword_subreddit',
      groups: MAX_GROUPS,
      rows: MAX_ROWS + 1,
      signal,
    }),
    counts: await countMatchesByHour(deps.clickhouse, { monitorId: call.id, from: knownSince, to: range.to, signal }),
  }));
  const isComparable = comparableHours(history, knownSince);
  const spikes = findSpikes({ ...range, counts, isComparable }).map(spikeResource);
  return { status: 200, body: { ...series(request, range, rows), as_of: new Date(now).toISOString(), spikes } };
}

/** Beyond the bound the oldest intervals are left out, each as a whole. */
function series(
  { interval }: SeriesRequest,
  range: SeriesRange,
  rows: readonly SeriesRow[],
): Omit<Timeseries, 'as_of' | 'spikes'> {
  const cut = rows.length > MAX_ROWS ? rows.at(-1)?.at : undefined;
  const kept = cut === undefined ? rows : rows.filter(({ at }) => at > cut);
  const from = cut === undefined ? range.from : (kept.at(-1)?.at ?? range.to);
  return {
    interval,
    from: new Date(from).toISOString(),
    to: new Date(range.to).toISOString(),
    items: kept
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, keyword, subreddit, count }) => ({ at: new Date(at).toISOString(), keyword, subreddit, count })),
    truncated: cut !== undefined,
  };
}
