import type { z } from 'zod';
import { latency, latencyQuery, timeseries, timeseriesQuery } from '../../../schemas/api/trends.ts';
import type { Latency, LatencyDay, Quantiles, Timeseries } from '../../../schemas/api/trends.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import { measureLatency } from '../../../shared/deliveries/archived-latency.ts';
import type { StepOfDay } from '../../../shared/deliveries/archived-latency.ts';
import { countMatchesByHour, countMatchSeries } from '../../../shared/matches/match-series.ts';
import type { SeriesRow } from '../../../shared/matches/match-series.ts';
import { readMonitorHistory } from '../../../shared/monitors/monitor-history.ts';
import { comparableHours, findSpikes, spikeResource } from '../../../shared/monitors/rules/find-spikes.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Semaphore } from '../../../shared/runtime/semaphore.ts';
import { freeWorkSlots } from '../http/account-slots.ts';
import { engineUnavailable, invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { timeseriesText } from '../mcp/tool-text.ts';
import { READS } from '../mcp/tool.ts';
import { findMonitor, MONITOR_ID } from './find-monitor.ts';

/** How long a response waits for other queries and for the archive together, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_AT_ONCE = 4;

/** Queries the archive for a caller. @throws ApiError internal_error (503) when the archive is unavailable or busy */
type QueryArchive = <T>(request: RouteRequest, query: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Bounds what free queries cost the archive: four at a time in a process, two an account. Nothing waits longer than the
 * timeout, whether for other queries or for an archive that does not answer.
 */
function createQueryArchive(): QueryArchive {
  const accountSlots = freeWorkSlots('figures');
  const semaphore = new Semaphore(MAX_AT_ONCE);
  return ({ caller, signal: disconnected }, query) =>
    accountSlots.run(caller.accountId, async () => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const signal = disconnected === undefined ? timeout : AbortSignal.any([disconnected, timeout]);
      try {
        return await semaphore.run('', () => query(signal), signal);
      } catch (error) {
        if (!timeout.aborted && !isArchiveUnavailable(error)) throw error;
        throw engineUnavailable('The archive is not responding. Try again later.');
      }
    });
}

/** What a monitor found over time, and how fast. */
export function trendRoutes(deps: TrendDeps): Route[] {
  const queryArchive = createQueryArchive();
  return [
    route({
      method: 'get',
      path: '/v1/monitors/:id/timeseries',
      scope: 'monitors:read',
      operationId: 'getTimeseries',
      tag: 'Monitors',
      summary: "Count a monitor's matches over time",
      description:
        'Matches of the last 30 days by hour or day, by the time at which the post or comment was first seen; suppressed and backfilled matches count too. The 20 keywords and the 20 communities with the most matches in the range have their own items; the others share items with null. `spikes` are hours with at least 10 matches that are far above the same hour on the previous 14 to 28 days. Days on which the monitor did not watch that whole hour with the same rule are skipped, so a monitor or rule younger than 14 days has no spikes. Free.',
      params: { id: MONITOR_ID },
      query: timeseriesQuery,
      example: { interval: 'hour', by: 'subreddit' },
      responses: [ok('The counts.', timeseries)],
      tool: {
        name: 'get_monitor_timeseries',
        title: 'Matches of a monitor over time',
        description:
          'How many matches a monitor had in the last 30 days, by hour or day, keyword and community, and its spikes: hours far above the same hour on previous days. Use `by=total` for the fewest items. Free.',
        annotations: READS,
        toText: timeseriesText,
      },
      handle: (request) => showTimeseries(deps, queryArchive, request),
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id/latency',
      scope: 'monitors:read',
      operationId: 'getLatency',
      tag: 'Monitors',
      summary: "Show how fast a monitor's matches arrive",
      description:
        'For each UTC day, newest first, how long the steps of a match took: from creation on the forum to first sight, from there to the recorded match, and from there to the delivery; and how long the receiver took to respond. Median, 90th and 99th percentile in milliseconds; null where nothing was measured. Backfilled matches are not included; days without measurements have no item. Free.',
      params: { id: MONITOR_ID },
      query: latencyQuery,
      example: { days: 7 },
      responses: [ok('The days.', latency)],
      handle: (request) => showLatency(deps, queryArchive, request),
    }),
  ];
}

/** How many keywords and communities have rows of their own. A rule has at most 20 keywords. */
const MAX_GROUPS = 20;
const MAX_ROWS = 10_000;

type SeriesRequest = z.output<typeof timeseriesQuery>;

/** Handles GET /v1/monitors/{id}/timeseries: the matches of a monitor by time, and its spikes. */
async function showTimeseries(
  deps: TrendDeps,
  queryArchive: QueryArchive,
  request: RouteRequest<SeriesRequest>,
): Promise<RouteResponse> {
  const { query } = request;
  const now = deps.clock();
  const range = seriesRange(query, now);
  await findMonitor(deps.pool, request.caller.accountId, request.id);
  const history = await readMonitorHistory(deps.pool, request.id);
  const knownSince = now - KEPT_MS;
  const { rows, counts } = await queryArchive(request, async (signal) => ({
    rows: await countMatchSeries(deps.clickhouse, {
      ...range,
      monitorId: request.id,
      interval: query.interval,
      byKeyword: query.by === 'keyword' || query.by === 'keyword_subreddit',
      bySubreddit: query.by === 'subreddit' || query.by === 'keyword_subreddit',
      groups: MAX_GROUPS,
      rows: MAX_ROWS + 1,
      signal,
    }),
    counts: await countMatchesByHour(deps.clickhouse, {
      monitorId: request.id,
      from: knownSince,
      to: range.to,
      signal,
    }),
  }));
  const isComparable = comparableHours(history, knownSince);
  const spikes = findSpikes({ ...range, counts, isComparable }).map(spikeResource);
  return { status: 200, body: { ...series(query, range, rows), as_of: new Date(now).toISOString(), spikes } };
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Older matches are not kept. */
const KEPT_MS = 30 * DAY_MS;
const MAX_DAYS = 31;
const DEFAULT_DAYS = { hour: 7, day: 30 } as const;

/** Whole intervals in milliseconds since 1970: from the start of the first until the end of the last. */
interface SeriesRange {
  from: number;
  to: number;
}

/**
 * The whole intervals that a query asks for, none after the one of `now` (milliseconds since 1970).
 *
 * @throws ApiError invalid_request
 */
export function seriesRange(
  { interval, from, to }: Pick<z.output<typeof timeseriesQuery>, 'interval' | 'from' | 'to'>,
  now: number,
): SeriesRange {
  const length = interval === 'hour' ? HOUR_MS : DAY_MS;
  const startOf = (time: number) => Math.floor(time / length) * length;
  const latest = startOf(now) + length;
  const wantedFrom =
    from === undefined ? (to === undefined ? now : Date.parse(to)) - DEFAULT_DAYS[interval] * DAY_MS : Date.parse(from);
  if (to !== undefined && wantedFrom >= Date.parse(to)) {
    throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
  }
  const start = startOf(wantedFrom);
  if (start >= latest) throw invalidRequest([{ field: 'from', message: 'must not be in the future' }]);
  const wantedTo = to === undefined ? now : Math.min(Date.parse(to), latest);
  if (wantedTo - wantedFrom > MAX_DAYS * DAY_MS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  }
  return { from: start, to: Math.max(Math.ceil(wantedTo / length) * length, start + length) };
}

/** Handles GET /v1/monitors/{id}/latency: how long each step of a monitor's matches took, by day. */
async function showLatency(
  deps: TrendDeps,
  queryArchive: QueryArchive,
  request: RouteRequest<z.output<typeof latencyQuery>>,
): Promise<RouteResponse> {
  const { days } = request.query;
  const now = deps.clock();
  await findMonitor(deps.pool, request.caller.accountId, request.id);
  const from = (Math.floor(now / DAY_MS) - days + 1) * DAY_MS;
  const steps = await queryArchive(request, (signal) =>
    measureLatency(deps.clickhouse, { monitorId: request.id, from, signal }),
  );
  const body: Latency = { as_of: new Date(now).toISOString(), items: daysOf(steps) };
  return { status: 200, body };
}

/** The days with any measurement, the newest first. */
function daysOf(steps: readonly StepOfDay[]): LatencyDay[] {
  const days = [...new Set(steps.map(({ day }) => day))].sort().toReversed();
  return days.map((day) => {
    const of = (step: StepOfDay['step']): Quantiles | null => {
      const found = steps.find((measured) => measured.day === day && measured.step === step);
      return found ? { count: found.count, p50: found.p50, p90: found.p90, p99: found.p99 } : null;
    };
    return {
      day,
      created_to_seen_ms: of('created_to_seen'),
      seen_to_recorded_ms: of('seen_to_recorded'),
      recorded_to_delivered_ms: of('recorded_to_delivered'),
      receiver_ms: of('receiver'),
    };
  });
}

interface TrendDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  clock: Clock;
}
