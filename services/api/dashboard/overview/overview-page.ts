import type { ServiceStatus } from '../../../../schemas/api/status.ts';
import { planOf } from '../../../../shared/domain/accounts/plans.ts';
import { withDeadline } from '../../../../shared/runtime/lifecycle.ts';
import { readUsageTotal } from '../../../../shared/stores/accounts/usage.ts';
import {
  readAccountOverview,
  readMatchesByDay,
  readReadingCredits,
} from '../../../../shared/stores/dashboard/account-overview.ts';
import type { AccountOverview, DayOfMatches } from '../../../../shared/stores/dashboard/account-overview.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { barChart } from '../parts/bar-chart.ts';
import { daysLeft } from '../../../../shared/domain/accounts/credits-left.ts';
import { daysUntil } from './days-until.ts';

const CHART_DAYS = 14;
/** Below this the overview warns. */
const FEW_DAYS = 3;
/** A measurement that takes longer, as of an engine that hangs, is not waited for. */
const STATUS_MS = 500;

/** The first page: what runs, what it found, how long the credits last, what needs attention. */
export function overviewPages(deps: DashboardDeps): PageRoute[] {
  return [{ method: 'get', path: '/', handle: (visit) => show(deps, visit) }];
}

async function show({ pool, clock, status }: DashboardDeps, visit: Visit): Promise<ShownPage> {
  const { id } = visit.account;
  const days = daysUntil(clock(), CHART_DAYS);
  const today = days.at(-1)!;
  const [overview, matches, usage, readingCredits, service] = await Promise.all([
    readAccountOverview(pool, id),
    readMatchesByDay(pool, { accountId: id, from: days[0]! }),
    readUsageTotal(pool, { accountId: id, from: today, to: today }),
    readReadingCredits(pool, id),
    withDeadline(status(), STATUS_MS, 'not measured in time').catch(() => undefined),
  ]);
  return {
    title: 'Overview',
    content: html`${attention(visit, overview)}
      <section id="overview" data-live="15">
        ${figures(visit, overview, {
          spentToday: usage.credits,
          readingCredits,
          matchesToday: matches.find((d) => d.day === today),
        })}
        ${matchesChart(days, matches)} ${coverageNow(service)}
      </section>`,
  };
}

function attention(visit: Visit, { failing, pausedForBalance, active, paused }: AccountOverview): HtmlValue {
  const monitors = active + paused + pausedForBalance;
  return [
    pausedForBalance > 0 &&
      html`<p class="notice bad" role="alert">
        ${pausedForBalance} ${pausedForBalance === 1 ? 'monitor is' : 'monitors are'} paused because the credits ran
        out. <a href="${visit.path('/billing')}">Buy credits</a>, then resume them.
      </p>`,
    failing.map(
      (monitor) =>
        html`<p class="notice bad" role="alert">
          The webhook of <a href="${visit.path(`/monitors/${monitor.id}`)}">${monitor.name}</a> fails:
          ${monitor.failures} failed deliveries in a row.
        </p>`,
    ),
    monitors === 0 &&
      html`<p class="notice">
        You watch nothing yet. <a href="${visit.path('/monitors/new')}">Create your first monitor</a>: it reports every
        new post and comment with your keywords within seconds.
      </p>`,
  ];
}

function figures(
  visit: Visit,
  overview: AccountOverview,
  today: { spentToday: number; readingCredits: number; matchesToday: DayOfMatches | undefined },
): Html {
  const { account, path } = visit;
  const plan = planOf(account.pack);
  const { readingCredits } = today;
  const left = daysLeft({ balance: account.balance, activeMonitors: overview.active, readingCredits });
  return html`<dl class="figures">
    ${figure('Credits', account.balance.toLocaleString('en'), html`<a href="${path('/billing')}">Buy more</a>`)}
    ${figure(
      'They last',
      left === undefined ? 'no end' : `${left >= 1000 ? '1,000+' : Math.floor(left)} days`,
      left !== undefined && left < FEW_DAYS
        ? html`<strong class="bad">Monitors pause when they run out.</strong>`
        : 'at today’s use',
    )}
    ${figure(
      'Monitors running',
      `${overview.active} of ${plan.monitors}`,
      html`<a href="${path('/monitors')}">${overview.paused + overview.pausedForBalance} paused</a>`,
    )}
    ${figure(
      'Matches today',
      (today.matchesToday?.matches ?? 0).toLocaleString('en'),
      `${today.spentToday.toLocaleString('en')} credits spent today`,
    )}
  </dl>`;
}

function figure(name: string, value: string, note: HtmlValue): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd><span class="large">${value}</span> <span class="note">${note}</span></dd>
  </div>`;
}

function matchesChart(days: readonly string[], found: readonly DayOfMatches[]): Html {
  const byDay = new Map(found.map((day) => [day.day, day]));
  return barChart({
    caption: `Matches of the last ${CHART_DAYS} days`,
    unit: 'matches',
    moreUnit: 'suppressed',
    bars: days.map((day) => ({
      label: day,
      value: byDay.get(day)?.matches ?? 0,
      more: byDay.get(day)?.suppressed ?? 0,
    })),
  });
}

const STATES: Readonly<Record<ServiceStatus['status'], string>> = {
  ok: 'All parts work',
  degraded: 'Some parts are behind',
  down: 'Some parts are down',
};

function coverageNow(service: ServiceStatus | undefined): Html {
  return html`<section>
    <h2>The service now</h2>
    ${service === undefined ? html`<p>Not known at the moment.</p>` : stateOfParts(service)}
  </section>`;
}

function stateOfParts({ status, parts }: ServiceStatus): Html {
  return html`<p><span class="state ${status === 'ok' ? 'good' : 'bad'}">${STATES[status]}</span></p>
    <ul>
      ${Object.values(parts).map(({ message }) => html`<li>${message}</li>`)}
    </ul>`;
}
