import type { Latency, Quantiles, Timeseries } from '../../../../schemas/api/trends.ts';
import { html } from '../../../../shared/html/html.ts';
import type { HtmlValue } from '../../../../shared/html/html.ts';
import { get } from '../page.ts';
import type { PageRoute, ShownPage, Visit } from '../page.ts';
import { barChart, table, time } from '../parts.ts';
import type { Bar } from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

const HOUR_MS = 3_600_000;
const COMMUNITIES_SHOWN = 10;

/** What a monitor found over time, its spikes, and how fast its matches arrive. */
export const trendPages: PageRoute[] = [get('/monitors/:id/trends', show)];

async function show(visit: Visit): Promise<ShownPage> {
  const interval = visit.query.text('interval') === 'hour' ? 'hour' : 'day';
  const { name } = await readMonitor(visit);
  // One after the other: an account has two of these answers at a time, and may have two pages open.
  const series = async (by: string) =>
    (await visit.read('/v1/monitors/:id/timeseries', { query: { interval, by } })) as Timeseries;
  const [total, communities] = [await series('total'), await series('subreddit')];
  const latency = (await visit.read('/v1/monitors/:id/latency')) as Latency;
  const other = interval === 'hour' ? 'day' : 'hour';
  const caption = interval === 'hour' ? 'Matches of the last 7 days by hour' : 'Matches of the last 30 days by day';
  return monitorPage(visit, '/trends', {
    title: `Trends of “${name}”`,
    content: html`<p>
        In UTC, by the time at which things were first seen.
        <a href="${visit.path(`/monitors/${visit.id}/trends?interval=${other}`)}">Show by ${other}</a>
      </p>
      ${barChart({ caption, moreUnit: 'in hours with a spike', bars: barsOf(total) })} ${spikesTable(total)}
      ${communitiesTable(communities)} ${latencyTable(latency)}`,
  });
}

/** One bar an interval, those without matches too. */
function barsOf({ interval, from, to, items, spikes }: Timeseries): Bar[] {
  const length = interval === 'hour' ? HOUR_MS : 24 * HOUR_MS;
  const counts = new Map(items.map(({ at, count }) => [Date.parse(at), count]));
  const bars: Bar[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += length) {
    const count = counts.get(at) ?? 0;
    const within = spikes.filter((spike) => Date.parse(spike.at) >= at && Date.parse(spike.at) < at + length);
    const more = Math.min(
      count,
      within.reduce((sum, spike) => sum + spike.count, 0),
    );
    const label = new Date(at).toISOString().slice(0, interval === 'hour' ? 13 : 10);
    bars.push({ label: interval === 'hour' ? `${label.replace('T', ' ')}:00` : label, value: count - more, more });
  }
  return bars;
}

function spikesTable({ spikes }: Timeseries): HtmlValue {
  if (spikes.length === 0) {
    return html`<p>
      No spikes: no hour with at least 10 matches was far above the same hour of the days before. A rule is compared
      once it is 14 days old.
    </p>`;
  }
  const rows = spikes.toReversed().map(({ at, count, median, score }) => [time(at), count, median, score]);
  return html`<h2>Spikes</h2>
    ${table('Spikes', ['Hour', 'Matches', 'Usually', 'Score'], rows)}`;
}

function communitiesTable({ items }: Timeseries): HtmlValue {
  const sums = new Map<string, number>();
  for (const { subreddit, count } of items) {
    if (subreddit !== null) sums.set(subreddit, (sums.get(subreddit) ?? 0) + count);
  }
  const caption = 'Communities with the most matches';
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, COMMUNITIES_SHOWN);
  const rows = largest.map(([name, count]) => [`r/${name}`, count]);
  return (
    sums.size > 0 &&
    html`<h2>${caption}</h2>
      ${table(caption, ['Community', 'Matches'], rows)}`
  );
}

function latencyTable({ items }: Latency): HtmlValue {
  const caption = 'How fast matches arrive';
  const steps = ['Created to seen', 'Seen to recorded', 'Recorded to delivered', 'Receiver’s answer'];
  const rows = items.map((day) => [
    day.day,
    ...[day.created_to_seen_ms, day.seen_to_recorded_ms, day.recorded_to_delivered_ms, day.receiver_ms].map(inSeconds),
  ]);
  return (
    items.length > 0 &&
    html`<h2>${caption}</h2>
      <p class="note">Median and 99th percentile.</p>
      ${table(caption, ['Day', ...steps], rows)}`
  );
}

function inSeconds(step: Quantiles | null): string {
  if (step === null) return '–';
  const seconds = (ms: number) => `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 2 })} s`;
  return `${seconds(step.p50)}, ${seconds(step.p99)}`;
}
