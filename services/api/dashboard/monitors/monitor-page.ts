import type { Monitor, MonitorDelivery, MonitorMute, MonitorStats } from '../../../../schemas/api/monitors.ts';
import { printRuleQuery } from '../../../../shared/monitors/rules/print-rule-query.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import {
  readMatchesByCommunity,
  readMatchesByTerm,
  readMonitorMatchesByDay,
  readMonitorMatchesByHour,
} from '../../../../shared/accounts/account-overview.ts';
import { openLiveTail } from '../../matches/live-tail-route.ts';
import { itemEvent } from '../../matches/live-tails.ts';
import { dollarsOf, MONITOR_PERIOD_CREDITS, planOf } from '../../../../shared/billing/rules/plans.ts';
import { attention, attentionOf, readAccountState } from '../attention.ts';
import type { MonitorState } from '../attention.ts';
import type { DashboardDeps } from '../dashboard.ts';
import { rankChart, timeChart } from '../charts.ts';
import { action, attempt, get, NO_PROBLEMS, post } from '../page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import {
  ago,
  dangerousButton,
  doneNotice,
  field,
  figures,
  heading,
  icon,
  number,
  otherProblems,
  paceInWords,
  postButton,
  select,
  table,
  time,
  typed,
} from '../parts.ts';
import { markPages, matchSection, readMatchList } from './match-list.ts';
import { matchEntry } from './matches.ts';
import {
  deliveryInWords,
  isYoung,
  monitorPage,
  readMonitor,
  ruleInWords,
  ruleOfMonitor,
  runButtons,
  inWords,
  stateInWords,
  unreadLink,
  YOUNG_HOURS,
} from './monitor-frame.ts';

type Deps = Pick<DashboardDeps, 'pool' | 'liveTails'>;

const CHART_DAYS = 30;
/** The chart of terms counts this many of the newest matches: 2 ms. All of 10,000 would take 30 ms. */
const NEWEST = 1_000;
const MAX_TERMS = 20;
/** For the filters by community, whose names are read one by one. */
const FEW_NEWEST = 200;
const MUTES = '/monitors/:id/mutes';

/** The list of monitors; a monitor with its matches and the stream of new ones as markup; its mutes. */
export function monitorPages(deps: Deps): PageRoute[] {
  return [
    get('/monitors', (request) => showList(deps, request)),
    get('/monitors/:id', (request) => show(deps, request)),
    get('/monitors/:id/stream', (request) => stream(deps, request)),
    get('/monitors/:id/settings', showSettings),
    action('/monitors/:id/pause', 'post', '/v1/monitors/:id/pause', '/monitors/:id?done=paused'),
    action('/monitors/:id/resume', 'post', '/v1/monitors/:id/resume', '/monitors/:id?done=resumed'),
    action('/monitors/:id/delete', 'delete', '/v1/monitors/:id', '/monitors?done=deleted'),
    get(MUTES, (request) => showMutes(request)),
    post(MUTES, addMute),
    ...markPages(deps.pool),
    action(`${MUTES}/:part/delete`, 'delete', '/v1/monitors/:id/mutes/:mute_id', `${MUTES}?done=removed`),
  ];
}

interface ShownMonitor {
  monitor: Monitor;
  stats: MonitorStats;
  delivery: MonitorDelivery;
}

async function show({ pool }: Deps, request: PageRequest): Promise<ShownPage> {
  const { id } = request;
  // All at once, so that a slow database is waited for once. Of another account's monitor nothing is shown.
  const reading = request.read('/v1/monitors/:id') as Promise<ShownMonitor>;
  const [shown, found, counts, terms, communities] = await Promise.all([
    reading,
    attempt(readMatchList(pool, request)),
    reading.then(({ monitor }) => matchesChart(pool, request, monitor)),
    readMatchesByTerm(pool, id, { newest: NEWEST, limit: MAX_TERMS }),
    readMatchesByCommunity(pool, id, { newest: FEW_NEWEST, limit: MAX_TERMS }),
  ]);
  const { monitor } = shown;
  const facets = { keyword: terms.map(({ term }) => term), subreddit: communities.map(({ subreddit }) => subreddit) };
  return monitorPage(request, '', {
    monitor,
    title: monitor.name,
    problems: found.problems,
    content: html`<div id="now" data-live>${ownAttention(request, shown)} ${monitorFigures(request, shown)}</div>
      <div class="columns">
        <section aria-labelledby="matches">${matchSection(request, found.value, facets, found.problems)}</section>
        <aside>
          ${inWords(ruleInWords(ruleOfMonitor(monitor)))}
          <div id="counts" data-live>
            ${counts}
            ${
              terms.length > 0 &&
              rankChart({
                caption: `Matches by keyword (of the newest ${number(NEWEST)} at most)`,
                unit: 'matches',
                rows: terms.map(({ term: label, matches: value }) => ({ label, value })),
              })
            }
          </div>
        </aside>
      </div>`,
  });
}

function ownAttention(request: PageRequest, { monitor, stats, delivery }: ShownMonitor): HtmlValue {
  const today = {
    matches: stats.matches_today,
    suppressed: stats.suppressed_today,
    notStored: stats.suppressed_not_stored,
  };
  return attentionOf(request, { monitor, delivery, today }, planOf(request.account.pack).dailyMatchCap, true);
}

const DAY_MS = 86_400_000;

function monitorFigures({ now, account, path }: PageRequest, { monitor, stats, delivery }: ShownMonitor): Html {
  const { id, status, last_match_at: last, next_charge_at: charge, created_at: created } = monitor;
  const { suppressed_today: suppressed, matches_7d: week } = stats;
  const cap = planOf(account.pack).dailyMatchCap;
  const days = Math.min(7, (now - Date.parse(created)) / DAY_MS);
  const facts = [suppressed > 0 && `${number(suppressed)} more not sent`, paceInWords(week, days)].filter(Boolean);
  return figures([
    ['Matches today', number(stats.matches_today), [...facts, `at most ${number(cap)} a day are sent`].join('; ')],
    ['Last match', last === null ? 'none yet' : html`<span class="large">${ago(last, now)}</span>`],
    [
      'Delivery',
      html`<p>${deliveryInWords(delivery)}</p>`,
      html`${monitor.notify !== undefined && 'Matches are mailed to you. '}
        <a href="${path(`/monitors/${id}/webhook`)}"
          >${delivery.state === 'none' ? 'Add a webhook' : 'Change or test it'}</a
        >`,
    ],
    [
      'Cost',
      status === 'active' ? `${MONITOR_PERIOD_CREDITS} credits a day` : html`<p>nothing while paused</p>`,
      status === 'active' &&
        html`about $${dollarsOf(30 * MONITOR_PERIOD_CREDITS, account.pack)} in 30 days; next charge ${time(charge)}`,
    ],
  ]);
}

async function showSettings(request: PageRequest): Promise<ShownPage> {
  const monitor = await readMonitor(request);
  const { id, name, status, created_at: created, next_charge_at: charge } = monitor;
  return monitorPage(request, '/settings', {
    monitor,
    title: `Settings of “${name}”`,
    content: html`<p>
        Created ${time(created)}.
        ${
          status === 'active'
            ? html`It costs ${MONITOR_PERIOD_CREDITS} credits for every 24 hours, about
              $${dollarsOf(30 * MONITOR_PERIOD_CREDITS, request.account.pack)} in 30 days; the next charge is
              ${time(charge)}.`
            : 'Nothing is charged while it is paused.'
        }
      </p>
      <p>Its name and rule are changed under <a href="${request.path(`/monitors/${id}/edit`)}">Rule</a>.</p>
      ${dangerousButton(request, {
        action: `/monitors/${id}/delete`,
        label: `Delete “${name}” permanently`,
        summary: 'Delete this monitor',
        consequences:
          'It stops immediately and cannot be restored. Its matches are no longer shown. The current day is not refunded. Pausing stops charges too.',
      })}`,
  });
}

/** Of a young monitor by hour, because most of its thirty days would be empty. */
async function matchesChart(pool: Pool, { id, now }: PageRequest, monitor: Monitor): Promise<Html> {
  const isOfHours = isYoung(monitor, now);
  const counts = isOfHours
    ? await readMonitorMatchesByHour(pool, id, YOUNG_HOURS)
    : await readMonitorMatchesByDay(pool, id, CHART_DAYS);
  return timeChart({
    caption: isOfHours ? `Matches of the last ${YOUNG_HOURS} hours` : `Matches of the last ${CHART_DAYS} days`,
    unit: 'matches',
    interval: isOfHours ? 'hour' : 'day',
    points: counts.map((each) => ('hour' in each ? each.hour.getTime() : Date.parse(each.day))),
    series: [
      { name: 'matches', tone: 1, values: counts.map(({ matches }) => matches) },
      { name: 'not sent', tone: 6, values: counts.map(({ suppressed }) => suppressed) },
    ],
    kind: 'stacked bars',
  });
}

/** A match that has just been recorded: unread until the page is opened again. */
const NEW = { mark: null, isUnread: true, view: '', isLive: true };

function stream({ pool, liveTails }: Deps, request: PageRequest): Promise<PageResponse> {
  const { caller, id, lastEventId } = request;
  return openLiveTail(
    { caller, id, query: request.query.given(['after']), lastEventId },
    {
      pool,
      liveTails,
      holder: { kind: 'session', id: request.session.id },
      eventOf: (match) => itemEvent(match.id, { id: match.id, markup: String(matchEntry(request, match, NEW)) }),
    },
  );
}

const RULE_LENGTH = 120;

async function showList({ pool }: Deps, request: PageRequest): Promise<ShownPage> {
  const { path } = request;
  const state = await readAccountState(pool, request);
  const { monitors, limit } = state;
  const columns = ['Monitor', 'State', 'Matches today', 'Last match', 'Next charge', 'Actions'];
  return {
    title: 'Monitors',
    heading: heading(
      'Monitors',
      html`<a class="button" href="${path('/monitors/new')}">${icon('plus')} New monitor</a>`,
    ),
    content: html`${doneNotice(request, { deleted: 'The monitor was deleted.' })}
      <section id="monitors" data-live>
        ${attention(request, state)}
        ${
          monitors.length > 0
            ? table(
                'Your monitors',
                columns,
                monitors.map((monitor) => listRow(request, monitor)),
              )
            : html`<div class="empty">
                <p><strong>No monitors yet.</strong></p>
                <p class="note">A monitor reports every new post and comment with your keywords within seconds.</p>
                <p><a class="button" href="${path('/monitors/new')}">Create your first monitor</a></p>
              </div>`
        }
      </section>
      <p class="note">
        ${monitors.length} of ${limit} monitors.
        ${monitors.length >= limit && html`<a href="${path('/billing')}">A larger pack</a> allows more.`}
      </p>`,
  };
}

function listRow(request: PageRequest, { monitor, today, unread }: MonitorState): HtmlValue[] {
  const { id, name, status, last_match_at: last, next_charge_at: charge, webhook_failing: isFailing } = monitor;
  const page = request.path(`/monitors/${id}`);
  const rule = printRuleQuery(ruleOfMonitor(monitor));
  const shortRule = rule.length <= RULE_LENGTH ? rule : `${rule.slice(0, RULE_LENGTH).toWellFormed()} …`;
  return [
    html`<a href="${page}">${name}</a> ${unreadLink(page, unread)}<br /><code class="note">${shortRule}</code>`,
    html`${stateInWords(monitor)}
    ${isFailing && html`<br /><a class="bad" href="${page}/deliveries">The webhook is failing</a>`}`,
    today.matches,
    last === null ? 'none yet' : ago(last, request.now),
    status === 'active' ? time(charge) : '–',
    html`<span class="actions">
      ${runButtons(request, monitor)} <a href="${page}/edit">Change<span class="hidden"> ${name}</span></a>
    </span>`,
  ];
}

const MUTED: Readonly<Record<MonitorMute['kind'], string>> = {
  subreddit: 'Community',
  author: 'Account',
  thread: 'Thread',
};
const PREFIXES: Readonly<Record<MonitorMute['kind'], string>> = { subreddit: 'r/', author: 'u/', thread: '' };

async function showMutes(request: PageRequest, problems = NO_PROBLEMS): Promise<ShownPage> {
  const [monitor, list] = await Promise.all([readMonitor(request), request.read('/v1/monitors/:id/mutes')]);
  const { items, limit } = list as { items: MonitorMute[]; limit: number };
  const page = `/monitors/${request.id}/mutes`;
  const rows = items.map(({ id, kind, value, created_at: at }) => [
    `${MUTED[kind]} ${PREFIXES[kind]}${value}`,
    time(at),
    postButton(request, { action: `${page}/${id}/delete`, label: html`Remove<span class="hidden"> ${value}</span>` }),
  ]);
  return monitorPage(request, '/mutes', {
    monitor,
    title: `Mutes of “${monitor.name}”`,
    problems,
    content: html`<p>
        The monitor records nothing from muted communities, accounts and threads. ${items.length} of ${limit} used.
      </p>
      ${
        items.length > 0
          ? table('Mutes, oldest first', ['Muted', 'Since', 'Actions'], rows)
          : html`<p class="empty">Nothing is muted.</p>`
      }
      <h2>Add a mute</h2>
      <form method="post" action="${request.path(page)}" class="narrow">
        ${request.csrfField} ${otherProblems(problems, ['kind', 'value'])}
        ${select({ ...typed(request.form, problems, 'kind'), label: 'What', options: Object.entries(MUTED) })}
        ${field({
          ...typed(request.form, problems, 'value'),
          label: 'Name, or the URL of a post',
          required: true,
        })}
        <div class="actions"><button>Mute</button></div>
      </form>`,
  });
}

async function addMute(request: PageRequest): Promise<PageResponse> {
  const body = { kind: request.form.text('kind'), value: request.form.text('value') };
  const { value, problems } = await attempt(request.call('post', '/v1/monitors/:id/mutes', { body }));
  if (value === undefined) return showMutes(request, problems);
  const below = request.form.text('from') === 'matches' ? '' : '/mutes';
  return { redirect: `/monitors/${request.id}${below}?done=muted` };
}
