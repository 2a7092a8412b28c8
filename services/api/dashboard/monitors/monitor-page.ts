import type { Monitor, MonitorDelivery, MonitorStats } from '../../../../schemas/api/monitors.ts';
import type { MatchPage } from '../../../../schemas/messages/monitor-match.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { readMatchesByTerm, readMonitorMatchesByDay } from '../../../../shared/stores/dashboard/account-overview.ts';
import { itemEvent } from '../../live-tail/live-tail.ts';
import { openLiveTail } from '../../live-tail/live-tail-route.ts';
import type { DashboardDeps } from '../dashboard.ts';
import { get, NO_PROBLEMS, problemsOf } from '../page.ts';
import type { FieldProblems, PageAnswer, PageRoute, ShownPage, Visit } from '../page.ts';
import { ago, barChart, dangerousButton, field, figures, number, otherProblems, time, typed } from '../parts.ts';
import { matchEntry } from './matches.ts';
import { deliveryInWords, monitorPage, runButtons, said, stateInWords } from './monitor-frame.ts';
import { ruleInWords, ruleOfMonitor } from './monitor-rule.ts';

type Deps = Pick<DashboardDeps, 'pool' | 'liveTails'>;

const CHART_DAYS = 30;
/** The chart of terms counts this many of the newest matches: 4 ms. All of 10,000 would take 30 ms. */
const NEWEST = 2_000;
const MOST_TERMS = 20;
const PER_PAGE = 25;
/** Entries that stay on the page while new ones arrive. */
const MOST_LIVE = 100;

/** A monitor with its matches, the newest first; and the stream of further ones, each as the markup of an entry. */
export function monitorPages(deps: Deps): PageRoute[] {
  return [
    get('/monitors/:id', (visit) => show(deps, visit)),
    get('/monitors/:id/stream', (visit) => stream(deps, visit)),
  ];
}

interface ShownMonitor {
  monitor: Monitor;
  stats: MonitorStats;
  delivery: MonitorDelivery;
}

async function show({ pool }: Deps, visit: Visit): Promise<ShownPage> {
  const { id } = visit;
  const shown = (await visit.read('/v1/monitors/:id')) as ShownMonitor;
  const { monitor } = shown;
  const [found, days, terms] = await Promise.all([
    readMatches(visit),
    readMonitorMatchesByDay(pool, id, CHART_DAYS),
    readMatchesByTerm(pool, id, { newest: NEWEST, limit: MOST_TERMS }),
  ]);
  return monitorPage(visit, '', {
    title: monitor.name,
    problems: found.problems,
    content: html`${monitorFigures(visit, shown)}
      <div class="actions">${runButtons(visit, monitor)}</div>
      ${said(ruleInWords(ruleOfMonitor(monitor)))}
      <h2>Matches</h2>
      ${filterForm(visit, found.problems)} ${found.page && matches(visit, found.page)}
      <h2>Counts</h2>
      ${barChart({
        caption: `Matches of the last ${CHART_DAYS} days`,
        moreUnit: 'suppressed',
        bars: days.map(({ day: label, matches: value, suppressed: more }) => ({ label, value, more })),
      })}
      ${
        terms.length > 0 &&
        barChart({
          caption: `Matches by keyword, of the newest ${number(NEWEST)}`,
          bars: terms.map(({ term: label, matches: value }) => ({ label, value })),
        })
      }
      ${dangerousButton(visit, {
        action: `/monitors/${id}/delete`,
        label: `Delete “${monitor.name}” for good`,
        summary: 'Delete this monitor',
        consequences:
          'It stops at once and cannot be brought back. Its matches are no longer shown. The current day is not refunded; pausing stops charges too.',
      })}`,
  });
}

function monitorFigures(visit: Visit, { monitor, stats, delivery }: ShownMonitor): Html {
  const { status, last_match_at: last, next_charge_at: charge } = monitor;
  const nextCharge = status === 'active' ? html`next charge ${time(charge)}` : 'nothing is charged';
  return figures([
    ['State', html`${stateInWords(monitor)}<br />`, nextCharge],
    [
      'Matches today',
      number(stats.matches_today),
      `${number(stats.suppressed_today)} suppressed; ${number(stats.matches_7d)} in 7 days`,
    ],
    ['Last match', last === null ? html`none yet` : ago(last, visit.now)],
    [
      'Webhook',
      html`${deliveryInWords(delivery)}<br /><a href="${visit.path(`/monitors/${monitor.id}/webhook`)}">Webhook</a>`,
    ],
  ]);
}

const FILTERS = ['since', 'until', 'keyword', 'subreddit'];
/** What browsers send for a day and time, which the page says to be UTC. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

/** What the page shows of the matches, as parameters of GET /v1/monitors/{id}/matches. */
function matchFilter({ query }: Visit): Record<string, string> {
  const given = Object.entries(query.given(['before', ...FILTERS]));
  return Object.fromEntries(
    given.map(([name, value]) => [name, LOCAL_TIME.test(value) ? `${value.padEnd(19, ':00')}Z` : value]),
  );
}

function filterForm(visit: Visit, problems: FieldProblems): Html {
  const { query } = visit;
  const page = visit.path(`/monitors/${visit.id}`);
  const isUsed = Object.keys(query.given(FILTERS)).length > 0;
  const of = (name: string) => typed(query, problems, name);
  return html`<details ${(isUsed || problems.size > 0) && html`open`}>
    <summary>Filter</summary>
    ${otherProblems(problems, FILTERS)}
    <form class="narrow" action="${page}">
      ${field({ ...of('since'), label: 'Recorded from (UTC)', type: 'datetime-local' })}
      ${field({ ...of('until'), label: 'Recorded before (UTC)', type: 'datetime-local' })}
      ${field({ ...of('keyword'), label: 'Keyword', hint: 'As it is written in the rule.' })}
      ${field({ ...of('subreddit'), label: 'Community' })}
      <div class="actions">
        <button>Filter</button>
        <a class="button quiet" href="${page}">Show all</a>
      </div>
    </form>
  </details>`;
}

async function readMatches(visit: Visit): Promise<{ page?: MatchPage; problems: FieldProblems }> {
  const query = { order: 'newest', limit: String(PER_PAGE), ...matchFilter(visit) };
  try {
    const page = (await visit.read('/v1/monitors/:id/matches', { query })) as MatchPage;
    return { page, problems: NO_PROBLEMS };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}

function matches(visit: Visit, { items, before }: MatchPage): HtmlValue {
  const isNewest = Object.keys(matchFilter(visit)).length === 0;
  const page = visit.path(`/monitors/${visit.id}`);
  const after = items[0] && `?after=${items[0].id}`;
  const live = isNewest && html`data-stream="${page}/stream${after}" data-limit="${MOST_LIVE}"`;
  const older = before !== null && new URLSearchParams({ ...visit.query.given(FILTERS), before }).toString();
  return html`<ol class="items" aria-label="Matches, the newest first" ${live}>
      ${items.map((match) => matchEntry(visit, match))}
    </ol>
    <p class="note when-empty">${isNewest ? 'No match yet.' : 'None on this page.'}</p>
    ${older !== false && html`<p><a href="${page}?${older}">Older matches</a></p>`}`;
}

function stream({ pool, liveTails }: Deps, visit: Visit): Promise<PageAnswer> {
  const { caller, id, lastEventId } = visit;
  return openLiveTail(
    { caller, id, query: visit.query.given(['after']), lastEventId },
    {
      pool,
      liveTails,
      holder: { kind: 'session', id: visit.session.id },
      eventOf: (match) => itemEvent(match.id, { id: match.id, markup: String(matchEntry(visit, match)) }),
    },
  );
}
