import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { printRuleQuery } from '../../../../shared/domain/rule-query/print-rule-query.ts';
import { readMatchesToday } from '../../../../shared/stores/dashboard/monitor-sums.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { ago, time } from '../parts/time.ts';
import { runButtons } from './monitor-actions.ts';
import { ruleOfMonitor } from './monitor-rule.ts';
import { stateInWords } from './monitor-state.ts';

type Deps = Pick<DashboardDeps, 'callApi' | 'pool' | 'clock'>;

/** Longer rules are cut in the list. */
const RULE_LENGTH = 120;

/** All monitors of the account. */
export function listPages(deps: Deps): PageRoute[] {
  return [{ method: 'get', path: '/monitors', handle: (visit) => show(deps, visit) }];
}

interface MonitorList {
  items: Monitor[];
  limit: number;
  used: number;
}

async function show({ callApi, pool, clock }: Deps, visit: Visit): Promise<ShownPage> {
  const [{ body }, today] = await Promise.all([
    callApi(visit, 'get', '/v1/monitors'),
    readMatchesToday(pool, visit.account.id),
  ]);
  const { items, limit, used } = body as MonitorList;
  const rows = items.map((monitor) => row(visit, monitor, today.get(monitor.id) ?? 0, clock()));
  return {
    title: 'Monitors',
    content: html`${visit.query.text('done') === 'deleted' && html`<p class="notice good">The monitor is deleted.</p>`}
      <p>
        ${used} of ${limit} monitors.
        ${used >= limit && html`<a href="${visit.path('/billing')}">A larger pack</a> allows more.`}
      </p>
      <p><a class="button" href="${visit.path('/monitors/new')}">New monitor</a></p>
      ${items.length > 0 && html`<section id="monitors" data-live="15">${table(rows)}</section>`}`,
  };
}

function table(rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Your monitors">
    <table>
      <caption class="hidden">
        Your monitors
      </caption>
      <thead>
        <tr>
          <th scope="col">Monitor</th>
          <th scope="col">State</th>
          <th scope="col" class="number">Today</th>
          <th scope="col">Last match</th>
          <th scope="col">Next charge</th>
          <th scope="col">Actions</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function row(visit: Visit, monitor: Monitor, today: number, now: number): Html {
  const { id, name, status, last_match_at: last, next_charge_at: charge } = monitor;
  return html`<tr>
    <th scope="row">
      <a href="${visit.path(`/monitors/${id}`)}">${name}</a><br /><code class="note">${shortRule(monitor)}</code>
    </th>
    <td>${stateInWords(monitor)} ${failing(visit, monitor)}</td>
    <td class="number">${today.toLocaleString('en')}</td>
    <td>${last === null ? 'none yet' : ago(last, now)}</td>
    <td>${status === 'active' ? time(charge) : '–'}</td>
    <td>
      ${runButtons(visit, monitor)}
      <a href="${visit.path(`/monitors/${id}/edit`)}">Change<span class="hidden"> ${name}</span></a>
    </td>
  </tr>`;
}

function failing(visit: Visit, { id, webhook_failing: isFailing }: Monitor): HtmlValue {
  return (
    isFailing &&
    html`<br /><a class="bad" href="${visit.path(`/monitors/${id}/webhook`)}">The webhook is marked as failing</a>`
  );
}

function shortRule(monitor: Monitor): string {
  const text = printRuleQuery(ruleOfMonitor(monitor));
  return text.length <= RULE_LENGTH ? text : `${text.slice(0, RULE_LENGTH).toWellFormed()} …`;
}
