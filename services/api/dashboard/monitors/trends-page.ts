import type { Monitor } from '../../../../schemas/api/monitor.ts';
import type { Latency, Quantiles, Timeseries } from '../../../../schemas/api/trends.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { barChart } from '../parts/bar-chart.ts';
import type { Bar } from '../parts/bar-chart.ts';
import { time } from '../parts/time.ts';
import { monitorNavigation } from './monitor-navigation.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

const HOUR_MS = 3_600_000;
const COMMUNITIES_SHOWN = 10;

/** What a monitor found over time, its spikes, and how fast its matches arrive. */
export function trendPages(deps: Deps): PageRoute[] {
  return [{ method: 'get', path: '/monitors/:id/trends', handle: (visit) => show(deps, visit) }];
}

async function show({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const interval = visit.query.text('interval') === 'hour' ? 'hour' : 'day';
  const { monitor } = (await callApi(visit, 'get', '/v1/monitors/:id', { id })).body as { monitor: Monitor };
  // One after the other: an account has two of these answers at a time, and may have two pages open.
  const series = async (by: string) =>
    (await callApi(visit, 'get', '/v1/monitors/:id/timeseries', { id, query: { interval, by } })).body as Timeseries;
  const [total, communities] = [await series('total'), await series('subreddit')];
  const latency = (await callApi(visit, 'get', '/v1/monitors/:id/latency', { id })).body as Latency;
  const other = interval === 'hour' ? 'day' : 'hour';
  const caption = interval === 'hour' ? 'Matches of the last 7 days by hour' : 'Matches of the last 30 days by day';
  return {
    title: `Trends of “${monitor.name}”`,
    content: html`${monitorNavigation(visit, id, '/trends')}
      <p>
        In UTC, by the time at which things were first seen.
        <a href="${visit.path(`/monitors/${id}/trends?interval=${other}`)}">Show by ${other}</a>
      </p>
      ${barChart({ caption, unit: 'matches', moreUnit: 'in hours with a spike', bars: barsOf(total) })}
      ${spikesTable(total)} ${communitiesTable(communities)} ${latencyTable(latency)}`,
  };
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

function spikesTable({ spikes }: Timeseries): Html {
  if (spikes.length === 0) {
    return html`<p>
      No spikes: no hour with at least 10 matches was far above the same hour of the days before. A rule is compared
      once it is 14 days old.
    </p>`;
  }
  return html`<h2>Spikes</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Spikes">
      <table>
        <thead>
          <tr>
            <th scope="col">Hour</th>
            <th scope="col">Matches</th>
            <th scope="col">Usually</th>
            <th scope="col">Score</th>
          </tr>
        </thead>
        <tbody>
          ${spikes.toReversed().map(
            ({ at, count, median, score }) =>
              html`<tr>
                <th scope="row">${time(at)}</th>
                <td class="number">${count.toLocaleString('en')}</td>
                <td class="number">${median.toLocaleString('en')}</td>
                <td class="number">${score.toLocaleString('en')}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function communitiesTable({ items }: Timeseries): Html | undefined {
  const sums = new Map<string, number>();
  for (const { subreddit, count } of items) {
    if (subreddit !== null) sums.set(subreddit, (sums.get(subreddit) ?? 0) + count);
  }
  if (sums.size === 0) return undefined;
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, COMMUNITIES_SHOWN);
  return html`<h2>Communities with the most matches</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">Community</th>
          <th scope="col">Matches</th>
        </tr>
      </thead>
      <tbody>
        ${largest.map(
          ([name, count]) =>
            html`<tr>
              <th scope="row">r/${name}</th>
              <td class="number">${count.toLocaleString('en')}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

function latencyTable({ items }: Latency): Html | undefined {
  if (items.length === 0) return undefined;
  return html`<h2>How fast matches arrive</h2>
    <p class="note">Median and 99th percentile.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="How fast matches arrive">
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Created to seen</th>
            <th scope="col">Seen to recorded</th>
            <th scope="col">Recorded to delivered</th>
            <th scope="col">Receiver’s answer</th>
          </tr>
        </thead>
        <tbody>
          ${items.map(
            (day) =>
              html`<tr>
                <th scope="row">${day.day}</th>
                ${[day.created_to_seen_ms, day.seen_to_recorded_ms, day.recorded_to_delivered_ms, day.receiver_ms].map(
                  (step) => html`<td>${inSeconds(step)}</td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function inSeconds(step: Quantiles | null): string {
  if (step === null) return '–';
  const seconds = (ms: number) => `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 2 })} s`;
  return `${seconds(step.p50)}, ${seconds(step.p99)}`;
}
