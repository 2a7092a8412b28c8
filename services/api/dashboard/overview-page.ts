import type { Redelivery } from '../../../schemas/api/deliveries.ts';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import { readMatchesByDay } from '../../../shared/accounts/account-overview.ts';
import { readUsageTotal } from '../../../shared/billing/ledger-pages.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { attention, readAccountState } from './attention.ts';
import type { AccountState, MonitorState } from './attention.ts';
import type { DashboardDeps } from './dashboard.ts';
import { lastIntervals, timeChart } from './charts.ts';
import { deliveryInWords, stateInWords, unreadLink } from './monitors/monitor-frame.ts';
import { attempt, get, post } from './page.ts';
import type { PageRequest, PageResponse, PageRoute, ShownPage } from './page.ts';
import { ago, doneNotice, figures, heading, icon, number, postButton, table } from './parts.ts';

const CHART_DAYS = 14;
/** A measurement that takes longer, as when an engine hangs, is left out. */
const STATUS_MS = 500;

/** What concerns the account as a whole: the overview, deliveries of all monitors, and the service's status. */
export const overviewPages = (deps: DashboardDeps): PageRoute[] => [
  get('/', (request) => showOverview(deps, request)),
  get('/deliveries', (request) => showDeliveries(deps, request)),
  post('/deliveries/send-waiting', (request) => sendAllWaiting(deps, request)),
  get('/status', () => showStatus(deps)),
];

async function showOverview({ pool }: DashboardDeps, request: PageRequest): Promise<ShownPage> {
  const { account, path, now } = request;
  const points = lastIntervals('day', CHART_DAYS, now);
  const days = points.map((at) => new Date(at).toISOString().slice(0, 10));
  const today = days.at(-1)!;
  const [state, matches, usage] = await Promise.all([
    readAccountState(pool, request),
    readMatchesByDay(pool, { accountId: account.id, from: days[0]! }),
    readUsageTotal(pool, { accountId: account.id, from: today, to: today }),
  ]);
  const byDay = new Map(matches.map((day) => [day.day, day]));
  const active = state.monitors.filter(({ monitor }) => monitor.status === 'active').length;
  const { daysLeft } = state;
  return {
    title: 'Overview',
    heading: heading('Overview', newMonitor(request)),
    content: html`<div id="attention" data-live>${attention(request, state)}</div>
      ${firstSteps(request, state)}
      <section id="overview" data-live>
        ${figures([
          ['Matches today', number(byDay.get(today)?.matches ?? 0), 'since 00:00 UTC'],
          [
            'Monitors running',
            html`<span class="large">${active}<span class="note"> of ${state.limit}</span></span>`,
            active < state.monitors.length && `${state.monitors.length - active} paused`,
          ],
          ['Credits', number(account.balance), html`${number(usage.credits)} spent today`],
          [
            'Credits last',
            daysLeft === undefined
              ? '–'
              : `${daysLeft >= 1000 ? '1,000+' : Math.floor(daysLeft)} ${Math.floor(daysLeft) === 1 ? 'day' : 'days'}`,
            daysLeft === undefined
              ? 'nothing is used'
              : html`at today’s usage. <a href="${path('/billing')}">Buy&nbsp;more</a>`,
          ],
        ])}
        ${timeChart({
          caption: `Matches of the last ${CHART_DAYS} days`,
          unit: 'matches',
          interval: 'day',
          points,
          series: [
            { name: 'matches', tone: 1, values: days.map((day) => byDay.get(day)?.matches ?? 0) },
            { name: 'not sent', tone: 6, values: days.map((day) => byDay.get(day)?.suppressed ?? 0) },
          ],
          kind: 'stacked bars',
        })}
        ${
          state.monitors.length > 0 &&
          html`<h2>Monitors</h2>
            ${table(
              'Monitors',
              ['Monitor', 'State', 'Matches today', 'Last match'],
              state.monitors.map((monitor) => overviewRow(request, monitor)),
            )}`
        }
      </section>`,
  };
}

function newMonitor({ path }: PageRequest): Html {
  return html`<a class="button" href="${path('/monitors/new')}">${icon('plus')} New monitor</a>`;
}

function overviewRow({ path, now }: PageRequest, { monitor, today, unread }: MonitorState): HtmlValue[] {
  const { id, name, last_match_at: last } = monitor;
  return [
    html`<a href="${path(`/monitors/${id}`)}">${name}</a> ${unreadLink(path(`/monitors/${id}`), unread)}`,
    stateInWords(monitor),
    today.matches,
    last === null ? 'none yet' : ago(last, now),
  ];
}

/** For a new account, until all three are done. */
function firstSteps({ path }: PageRequest, { monitors }: AccountState): HtmlValue {
  const first = monitors[0]?.monitor;
  const hasMatch = monitors.some(({ monitor }) => monitor.last_match_at !== null);
  const isConnected = monitors.some(
    ({ monitor }) => monitor.webhook_url !== null || monitor.digest !== undefined || monitor.notify !== undefined,
  );
  if (hasMatch && isConnected) return false;
  const page = first && path(`/monitors/${first.id}`);
  const steps: [done: boolean, name: HtmlValue, text: string][] = [
    [
      first !== undefined,
      html`<a href="${path('/monitors/new')}">Create a monitor</a>`,
      'Choose keywords, or start from an example.',
    ],
    [
      hasMatch,
      page === undefined ? 'See a match' : html`<a href="${page}">See a match</a>`,
      'New posts and comments with your keywords appear within seconds.',
    ],
    [
      isConnected,
      page === undefined ? 'Get them delivered' : html`<a href="${page}/webhook">Get them delivered</a>`,
      'By webhook, Slack, Discord or mail.',
    ],
  ];
  return html`<section class="card" aria-labelledby="steps">
    <h2 id="steps">Three steps to your first match</h2>
    <ol class="steps">
      ${steps.map(
        ([isDone, name, text]) =>
          html`<li class="${isDone && 'done'}">
            ${isDone && icon('check-circle')}
            <strong>${name}</strong>${isDone && html`<span class="hidden"> (done)</span>`}
            <span class="note">${text}</span>
          </li>`,
      )}
    </ol>
  </section>`;
}

async function showDeliveries({ pool }: DashboardDeps, request: PageRequest): Promise<ShownPage> {
  const { path, now, query } = request;
  const state = await readAccountState(pool, request);
  // The notice about a single one has its own button.
  const waiting = state.monitors.filter(({ delivery }) => (delivery?.pending ?? 0) > 0).length > 1;
  const rows = state.monitors.flatMap(({ monitor: { id, name }, delivery }) => {
    if (delivery === undefined) return [];
    const { pending, last_attempt_at: attempt, last_delivered_at: delivered } = delivery;
    return [
      [
        html`<a href="${path(`/monitors/${id}/deliveries`)}">${name}</a>`,
        deliveryInWords(delivery),
        pending,
        attempt === null ? 'none yet' : ago(attempt, now),
        delivered === null ? 'none yet' : ago(delivered, now),
      ],
    ];
  });
  const queued = Number(query.text('queued'));
  return {
    title: 'Deliveries',
    heading: heading(
      'Deliveries',
      waiting && postButton(request, { action: '/deliveries/send-waiting', label: 'Send all waiting matches now' }),
    ),
    content: html`${doneNotice(request, {
        resent: `${Number.isSafeInteger(queued) && queued > 0 ? `${number(queued)} queued.` : 'Nothing was queued.'}${
          query.text('more') === 'yes' ? ' There are more. Press again later.' : ''
        }`,
      })}
      <div id="deliveries" data-live>
        ${attention(request, state)}
        ${
          rows.length > 0
            ? table('Deliveries by monitor', ['Monitor', 'Webhook', 'Waiting', 'Last attempt', 'Last success'], rows)
            : html`<div class="empty">
                <p><strong>No monitor has a webhook yet.</strong></p>
                <p class="note">
                  Add the URL of your server, or of a Slack or Discord channel, to a monitor, and its matches arrive
                  there within seconds.
                </p>
                <p><a class="button quiet" href="${path('/monitors')}">Choose a monitor</a></p>
              </div>`
        }
      </div>`,
  };
}

async function sendAllWaiting({ pool }: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const { monitors } = await readAccountState(pool, request);
  let queued = 0;
  let hasMore = false;
  for (const { monitor, delivery } of monitors) {
    if ((delivery?.pending ?? 0) === 0) continue;
    const body = { status: 'pending' };
    const sent = await attempt(request.call('post', '/v1/monitors/:id/redeliver', { id: monitor.id, body }));
    const result = sent.value?.body as Redelivery | undefined;
    queued += result?.queued ?? 0;
    hasMore ||= result?.more ?? true;
  }
  return { redirect: `/deliveries?done=resent&queued=${queued}${hasMore ? '&more=yes' : ''}` };
}

const STATES: Readonly<Record<ServiceStatus['status'], readonly [kind: string, words: string]>> = {
  ok: ['good', 'All parts are operational'],
  degraded: ['warn', 'Some parts are delayed'],
  down: ['bad', 'Some parts are down'],
};
const PARTS: Readonly<Record<keyof ServiceStatus['parts'], string>> = {
  services: 'Services',
  items: 'New posts and comments',
  processing: 'Matching',
  deliveries: 'Deliveries',
  clocks: 'Clocks',
};
const PART_STATES = { ok: 'good', degraded: 'warn', down: 'bad', unknown: '' } as const;

async function showStatus({ status }: DashboardDeps): Promise<ShownPage> {
  const service = await withDeadline(status(), STATUS_MS, 'not measured in time').catch(() => undefined);
  if (service === undefined) {
    return { title: 'Status', content: html`<p>The status could not be measured in time. Try again shortly.</p>` };
  }
  const isUnknown = Object.values(service.parts).every(({ status: state }) => state === 'ok' || state === 'unknown');
  const [kind, summary] =
    service.status === 'degraded' && isUnknown
      ? (['warn', 'Some parts could not be checked'] as const)
      : STATES[service.status];
  return {
    title: 'Status',
    content: html`<div id="status" data-live>
      <h2 class="${kind}">${summary}</h2>
      <dl class="status">
        ${Object.entries(PARTS).map(([name, words]) => {
          const { status: state, message } = service.parts[name as keyof typeof PARTS];
          return html`<dt>${words}</dt>
            <dd><span class="state ${PART_STATES[state]}">${message}</span></dd>`;
        })}
      </dl>
    </div>`,
  };
}
