import type { Latency, Quantiles, Timeseries } from '../../../../schemas/api/trends.ts';
import { readAttemptsByHour } from '../../../../shared/deliveries/delivery-health.ts';
import type { HourOfAttempts } from '../../../../shared/deliveries/delivery-health.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import { ApiError } from '../../http/api-error.ts';
import { adjacentIntervals, lastIntervals, rankChart, timeChart } from '../charts.ts';
import type { Interval, Series, Tone } from '../charts.ts';
import { get } from '../page.ts';
import type { PageRequest, PageRoute, ShownPage } from '../page.ts';
import { notice, table, time } from '../parts.ts';
import { isYoung, monitorPage, readMonitor, YOUNG_HOURS } from './monitor-frame.ts';

const HOUR_MS = 3_600_000;
const KEYWORDS_SHOWN = 5;
const COMMUNITIES_SHOWN = 10;
const DELIVERY_HOURS = 48;
const LATENCY_DAYS = 7;

/** What a monitor found over time, where, how fast it arrived, and how its deliveries went. */
export const insightsPages = (pool: Pool): PageRoute[] => [
  get('/monitors/:id/trends', (request) => showInsights(pool, request)),
];

async function showInsights(pool: Pool, request: PageRequest): Promise<ShownPage> {
  const monitor = await readMonitor(request);
  const { interval, range, times } = shownTime(request, isYoung(monitor, request.now));
  // One after the other: an account has two of these responses at a time, and may have two pages open.
  const series = async (by: 'keyword' | 'subreddit') =>
    (await request.read('/v1/monitors/:id/timeseries', { query: { interval, by, ...range } })) as Timeseries;
  const readArchive = async () => ({
    keywords: await series('keyword'),
    communities: await series('subreddit'),
    latency: (await request.read('/v1/monitors/:id/latency', { query: { days: String(LATENCY_DAYS) } })) as Latency,
  });
  const [archive, attempts] = await Promise.all([
    readArchive().catch((error: unknown) => unavailable(error)),
    readAttemptsByHour(pool, request.id, DELIVERY_HOURS),
  ]);
  const deliveries = monitor.webhook_url !== null && deliveriesChart(attempts);
  const title = `Insights of “${monitor.name}”`;
  if (typeof archive === 'string') {
    return monitorPage(request, '/trends', { monitor, title, content: [notice('warn', archive), deliveries] });
  }
  const { keywords, communities, latency } = archive;
  const other = interval === 'hour' ? 'day' : 'hour';
  return monitorPage(request, '/trends', {
    monitor,
    title,
    content: html`<p>
        In UTC, by the time when items were first seen.
        <a href="${request.path(`/monitors/${request.id}/trends?interval=${other}`)}">Show by ${other}</a>
      </p>
      ${matchesChart(keywords, `Matches of ${times} by keyword`)} ${spikesTable(keywords)}
      <div class="chart-pair">${communitiesChart(request, communities)} ${deliveries}</div>
      ${latencyCharts(request, latency)}`,
  });
}

/** What to show where the archive does not respond. @throws any other error */
function unavailable(error: unknown): string {
  if (error instanceof ApiError && error.status === 503) return error.message;
  throw error;
}

/** What the charts show: hours of a young monitor, else days, unless the page's address says otherwise. */
function shownTime(
  { query, now }: PageRequest,
  isYoung: boolean,
): { interval: Interval; range: { from?: string }; times: string } {
  const chosen = query.text('interval');
  if (chosen === 'day' || (chosen !== 'hour' && !isYoung))
    return { interval: 'day', range: {}, times: 'the last 30 days' };
  if (!isYoung) return { interval: 'hour', range: {}, times: 'the last 7 days' };
  const from = new Date(now - (YOUNG_HOURS - 1) * HOUR_MS).toISOString();
  return { interval: 'hour', range: { from }, times: `the last ${YOUNG_HOURS} hours` };
}

function matchesChart({ interval, from, to, items, spikes }: Timeseries, caption: string): Html {
  const points = adjacentIntervals(interval, Date.parse(from), Date.parse(to));
  const byKeyword = Map.groupBy(items, ({ keyword }) => keyword ?? '');
  const sums = [...byKeyword].map(([keyword, all]) => ({ keyword, sum: sumOf(all) }));
  const shown = sums
    .filter(({ keyword }) => keyword !== '')
    .sort((a, b) => b.sum - a.sum)
    .slice(0, KEYWORDS_SHOWN)
    .map(({ keyword }) => keyword);
  const others = items.filter(({ keyword }) => keyword === null || !shown.includes(keyword));
  const valuesOf = (counted: Timeseries['items']) => {
    const at = Map.groupBy(counted, (item) => Date.parse(item.at));
    return points.map((point) => sumOf(at.get(point) ?? []));
  };
  const series: Series[] = shown.map((keyword, index) => ({
    name: shown.length === 1 && others.length === 0 ? 'matches' : `“${keyword}”`,
    tone: (index + 1) as Tone,
    values: valuesOf(byKeyword.get(keyword)!),
  }));
  if (others.length > 0) series.push({ name: 'other keywords', tone: 6, values: valuesOf(others) });
  return timeChart({
    caption,
    unit: 'matches',
    interval,
    points,
    series,
    kind: 'stacked bars',
    marks: { name: 'Spike', at: spikes.map(({ at }) => Date.parse(at)) },
    note: [
      series.length > 1 && 'A match with several keywords counts for each of them. ',
      spikes.length === 0 &&
        'No spikes: no hour with at least 10 matches was far above the same hour on previous days. Spikes are detected once a rule is 14 days old.',
    ],
  });
}

const sumOf = (items: Timeseries['items']): number => items.reduce((sum, { count }) => sum + count, 0);

function spikesTable({ spikes }: Timeseries): HtmlValue {
  const rows = spikes.toReversed().map(({ at, count, median, score }) => [time(at), count, median, score]);
  return (
    rows.length > 0 &&
    html`<h2>Spikes</h2>
      ${table('Spikes', ['Hour', 'Matches', 'Usually', 'Score'], rows)}`
  );
}

function communitiesChart({ path, id }: PageRequest, { items }: Timeseries): Html {
  const sums = [...Map.groupBy(items, ({ subreddit }) => subreddit)].flatMap(([name, all]) =>
    name === null ? [] : [{ name, value: sumOf(all) }],
  );
  const largest = sums.sort((a, b) => b.value - a.value).slice(0, COMMUNITIES_SHOWN);
  return rankChart({
    caption: 'Communities with the most matches',
    unit: 'matches',
    rows: largest.map(({ name, value }) => ({
      label: `r/${name}`,
      value,
      href: path(`/monitors/${id}?subreddit=${encodeURIComponent(name)}`),
    })),
  });
}

function deliveriesChart(attempts: readonly HourOfAttempts[]): Html {
  return timeChart({
    caption: `Delivery attempts of the last ${DELIVERY_HOURS} hours`,
    unit: 'attempts',
    interval: 'hour',
    points: attempts.map(({ at }) => at.getTime()),
    series: [
      { name: 'delivered', tone: 1, values: attempts.map(({ delivered }) => delivered) },
      { name: 'failed and retried', tone: 2, values: attempts.map(({ retried }) => retried) },
      { name: 'failed permanently', tone: 4, values: attempts.map(({ failed }) => failed) },
    ],
    kind: 'stacked bars',
    empty: `No attempts in the last ${DELIVERY_HOURS} hours`,
  });
}

const STEPS = [
  ['created_to_seen_ms', 'From created to seen'],
  ['seen_to_recorded_ms', 'From seen to recorded'],
  ['recorded_to_delivered_ms', 'From recorded to delivered'],
  ['receiver_ms', 'Your receiver’s response'],
] as const;

/** A chart for each step that was measured, because one step may take a thousand times as long as another. */
function latencyCharts({ now }: PageRequest, { items }: Latency): HtmlValue {
  if (items.length === 0) return false;
  const points = lastIntervals('day', LATENCY_DAYS, now);
  const byDay = new Map(items.map((day) => [Date.parse(day.day), day]));
  const values = (step: (typeof STEPS)[number][0], quantile: 'p50' | 'p99') =>
    points.map((day) => secondsOf(byDay.get(day)?.[step], quantile));
  const charts = STEPS.filter(([step]) => items.some((day) => day[step] !== null)).map(([step, caption]) =>
    timeChart({
      caption,
      unit: 'seconds',
      interval: 'day',
      points,
      series: [
        { name: 'median', tone: 1, values: values(step, 'p50') },
        { name: '99th percentile', tone: 2, values: values(step, 'p99') },
      ],
      kind: 'lines',
    }),
  );
  return html`<h2>How fast matches arrive</h2>
    <div class="chart-pair">${charts}</div>`;
}

function secondsOf(step: Quantiles | null | undefined, quantile: 'p50' | 'p99'): number | null {
  return step ? step[quantile] / 1000 : null;
}
