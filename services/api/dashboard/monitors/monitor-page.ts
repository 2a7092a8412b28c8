import type { Monitor, MonitorDelivery, MonitorStats } from '../../../../schemas/api/monitor.ts';
import type { MatchPage } from '../../../../schemas/messages/monitor-match.ts';
import { readMatchesByTerm, readMonitorMatchesByDay } from '../../../../shared/stores/dashboard/monitor-sums.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { FieldProblems } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { barChart } from '../parts/bar-chart.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { ago, time } from '../parts/time.ts';
import { deleteButton, runButtons } from './monitor-actions.ts';
import { matchEntry } from './matches/match-entry.ts';
import { matchFilter, matchFilterForm } from './matches/match-filter.ts';
import { matchHighlighter } from './matches/match-highlights.ts';
import { said } from './monitor-form.ts';
import { monitorNavigation } from './monitor-navigation.ts';
import { ruleOfMonitor } from './monitor-rule.ts';
import { deliveryInWords, stateInWords } from './monitor-state.ts';
import { ruleInWords } from './rule-in-words.ts';

type Deps = Pick<DashboardDeps, 'callApi' | 'pool' | 'clock'>;

const CHART_DAYS = 30;
/** The chart of terms counts this many of the newest matches: 4 ms. All of 10,000 would take 30 ms. */
const NEWEST = 2_000;
const MOST_TERMS = 20;
const PER_PAGE = 25;
/** Entries that stay on the page while new ones arrive. */
const MOST_LIVE = 100;

/** A monitor with its matches, the newest first. */
export function monitorPages(deps: Deps): PageRoute[] {
  return [{ method: 'get', path: '/monitors/:id', handle: (visit) => show(deps, visit) }];
}

interface ShownMonitor {
  monitor: Monitor;
  stats: MonitorStats;
  delivery: MonitorDelivery;
}

async function show({ callApi, pool, clock }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const shown = body as ShownMonitor;
  const [found, days, terms] = await Promise.all([
    readMatches({ callApi }, visit),
    readMonitorMatchesByDay(pool, id, CHART_DAYS),
    readMatchesByTerm(pool, id, { newest: NEWEST, limit: MOST_TERMS }),
  ]);
  return {
    title: shown.monitor.name,
    status: found.problems.size > 0 ? 400 : 200,
    content: html`${doneNotice(visit, DONE)} ${monitorNavigation(visit, id, '')} ${figures(visit, shown, clock())}
      <div class="actions">${runButtons(visit, shown.monitor)}</div>
      ${said(ruleInWords(ruleOfMonitor(shown.monitor)))}
      <h2>Matches</h2>
      ${matchFilterForm(visit, id, found.problems)} ${matches(visit, shown.monitor, found)}
      <h2>Counts</h2>
      ${barChart({
        caption: `Matches of the last ${CHART_DAYS} days`,
        unit: 'matches',
        moreUnit: 'suppressed',
        bars: days.map(({ day, matches: value, suppressed: more }) => ({ label: day, value, more })),
      })}
      ${
        terms.length > 0 &&
        barChart({
          caption: `Matches by keyword, of the newest ${NEWEST.toLocaleString('en')}`,
          unit: 'matches',
          bars: terms.map(({ term: label, matches: value }) => ({ label, value })),
        })
      }
      ${deleteButton(visit, shown.monitor)}`,
  };
}

const DONE: ReadonlyMap<string, string> = new Map([
  ['changed', 'The change is stored. What enters from now on is matched by it.'],
  ['paused', 'The monitor is paused. Nothing is charged while it is.'],
  ['resumed', 'The monitor runs.'],
  ['resent', 'The match is queued to be sent again.'],
]);

function figures(visit: Visit, { monitor, stats, delivery }: ShownMonitor, now: number): Html {
  const { status, last_match_at: last, next_charge_at: charge } = monitor;
  return html`<dl class="figures">
    <div>
      <dt>State</dt>
      <dd>
        ${stateInWords(monitor)}<br /><span class="note"
          >${status === 'active' ? html`next charge ${time(charge)}` : 'nothing is charged'}</span
        >
      </dd>
    </div>
    <div>
      <dt>Matches today</dt>
      <dd>
        <span class="large">${stats.matches_today.toLocaleString('en')}</span>
        <span class="note"
          >${stats.suppressed_today.toLocaleString('en')} suppressed; ${stats.matches_7d.toLocaleString('en')} in 7
          days</span
        >
      </dd>
    </div>
    <div>
      <dt>Last match</dt>
      <dd>${last === null ? 'none yet' : ago(last, now)}</dd>
    </div>
    <div>
      <dt>Webhook</dt>
      <dd>${deliveryInWords(delivery)}<br /><a href="${visit.path(`/monitors/${monitor.id}/webhook`)}">Webhook</a></dd>
    </div>
  </dl>`;
}

interface FoundMatches {
  page: MatchPage;
  problems: FieldProblems;
}

const NO_MATCHES: MatchPage = { items: [], after: null, before: null };

async function readMatches({ callApi }: Pick<Deps, 'callApi'>, visit: Visit): Promise<FoundMatches> {
  const query = { order: 'newest', limit: String(PER_PAGE), ...matchFilter(visit) };
  try {
    const { body } = await callApi(visit, 'get', '/v1/monitors/:id/matches', { id: visit.params.id ?? '', query });
    return { page: body as MatchPage, problems: new Map() };
  } catch (error) {
    return { page: NO_MATCHES, problems: problemsOf(error) };
  }
}

function matches(visit: Visit, monitor: Monitor, { page, problems }: FoundMatches): HtmlValue {
  if (problems.size > 0) return false;
  const highlightsOf = matchHighlighter(ruleOfMonitor(monitor));
  const entries = page.items.map((match) => matchEntry(visit, match, highlightsOf(match)));
  const isNewest = Object.keys(matchFilter(visit)).length === 0;
  const newest = page.items[0]?.id;
  const stream = `/monitors/${monitor.id}/stream${newest === undefined ? '' : `?after=${newest}`}`;
  const live = isNewest && html`data-stream="${visit.path(stream)}" data-limit="${MOST_LIVE}"`;
  return html`<ol class="items" aria-label="Matches, the newest first" ${live}>
      ${entries}
    </ol>
    <p class="note when-empty">${isNewest ? 'No match yet.' : 'None on this page.'}</p>
    ${page.before !== null && olderLink(visit, monitor.id, page.before)}`;
}

function olderLink(visit: Visit, id: string, before: string): Html {
  const query = new URLSearchParams();
  for (const name of ['since', 'until', 'keyword', 'subreddit']) {
    if (visit.query.text(name) !== '') query.set(name, visit.query.text(name));
  }
  query.set('before', before);
  return html`<p><a href="${visit.path(`/monitors/${id}?${query.toString()}`)}">Older matches</a></p>`;
}
