import type { ServiceStatus } from '../../../schemas/api/status.ts';
import {
  readAccountOverview,
  readMatchesByDay,
  readReadingCredits,
} from '../../../shared/accounts/account-overview.ts';
import type { AccountOverview } from '../../../shared/accounts/account-overview.ts';
import { readUsageTotal } from '../../../shared/billing/ledger-pages.ts';
import { daysLeft, planOf } from '../../../shared/billing/rules/plans.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { DashboardDeps } from './dashboard.ts';
import { get } from './page.ts';
import type { PageRequest, PageRoute, ShownPage } from './page.ts';
import { barChart, figures, list, notice, number } from './parts.ts';

const CHART_DAYS = 14;
const DAY_MS = 86_400_000;
const FEW_DAYS = 3;
/** A measurement that takes longer, as when an engine hangs, is left out. */
const STATUS_MS = 500;

export const overviewPages = (deps: DashboardDeps): PageRoute[] => [get('/', (request) => show(deps, request))];

async function show({ pool, status }: DashboardDeps, request: PageRequest): Promise<ShownPage> {
  const { account, path, now } = request;
  const days = Array.from({ length: CHART_DAYS }, (_, index) =>
    new Date(now - (CHART_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const today = days.at(-1)!;
  const [overview, matches, usage, readingCredits, service] = await Promise.all([
    readAccountOverview(pool, account.id),
    readMatchesByDay(pool, { accountId: account.id, from: days[0]! }),
    readUsageTotal(pool, { accountId: account.id, from: today, to: today }),
    readReadingCredits(pool, account.id),
    withDeadline(status(), STATUS_MS, 'not measured in time').catch(() => undefined),
  ]);
  const byDay = new Map(matches.map((day) => [day.day, day]));
  const left = daysLeft({ balance: account.balance, activeMonitors: overview.active, readingCredits });
  return {
    title: 'Overview',
    content: html`${attention(request, overview)}
      <section id="overview" data-live="15">
        ${figures([
          ['Credits', number(account.balance), html`<a href="${path('/billing')}">Buy more</a>`],
          [
            'Credits last',
            left === undefined ? 'indefinitely' : `${left >= 1000 ? '1,000+' : Math.floor(left)} days`,
            left !== undefined && left < FEW_DAYS
              ? html`<strong class="bad">Monitors pause when they run out.</strong>`
              : 'at today’s usage',
          ],
          [
            'Monitors running',
            `${overview.active} of ${planOf(account.pack).monitors}`,
            html`<a href="${path('/monitors')}">${overview.paused + overview.pausedForBalance} paused</a>`,
          ],
          ['Matches today', number(byDay.get(today)?.matches ?? 0), `${number(usage.credits)} credits spent today`],
        ])}
        ${barChart({
          caption: `Matches of the last ${CHART_DAYS} days`,
          moreUnit: 'not sent',
          bars: days.map((label) => {
            const { matches: value = 0, suppressed: more = 0 } = byDay.get(label) ?? {};
            return { label, value, more };
          }),
        })}
        <section>
          <h2>Service status</h2>
          ${service === undefined ? html`<p>Currently unknown.</p>` : stateOfParts(service)}
        </section>
      </section>`,
  };
}

function attention({ path }: PageRequest, { failing, pausedForBalance, active, paused }: AccountOverview): HtmlValue {
  return [
    pausedForBalance > 0 &&
      notice(
        'bad',
        html`${pausedForBalance} ${pausedForBalance === 1 ? 'monitor is' : 'monitors are'} paused because the credits
          ran out. <a href="${path('/billing')}">Buy credits</a>, then resume them.`,
      ),
    failing.map((monitor) =>
      notice(
        'bad',
        html`The webhook of <a href="${path(`/monitors/${monitor.id}`)}">${monitor.name}</a> is failing:
          ${monitor.failures} failed deliveries in a row.`,
      ),
    ),
    active + paused + pausedForBalance === 0 &&
      notice(
        '',
        html`You have no monitors yet. <a href="${path('/monitors/new')}">Create your first monitor</a>: it reports
          every new post and comment with your keywords within seconds.`,
      ),
  ];
}

const STATES: Readonly<Record<ServiceStatus['status'], string>> = {
  ok: 'All systems operational',
  degraded: 'Some parts are delayed',
  down: 'Some parts are down',
};

function stateOfParts({ status, parts }: ServiceStatus): Html {
  return html`<p><span class="state ${status === 'ok' ? 'good' : 'bad'}">${STATES[status]}</span></p>
    ${list(Object.values(parts).map(({ message }) => message))}`;
}
