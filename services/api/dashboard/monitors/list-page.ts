import type { Monitor } from '../../../../schemas/api/monitors.ts';
import { printRuleQuery } from '../../../../shared/domain/rule-query/print-rule-query.ts';
import { html } from '../../../../shared/html/html.ts';
import type { HtmlValue } from '../../../../shared/html/html.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import { readMatchesToday } from '../../../../shared/stores/dashboard/account-overview.ts';
import { get, post } from '../page.ts';
import type { PageRoute, ShownPage, Visit } from '../page.ts';
import { ago, doneNotice, table, time } from '../parts.ts';
import { runButtons, stateInWords } from './monitor-frame.ts';
import { ruleOfMonitor } from './monitor-rule.ts';

/** Longer rules are cut in the list. */
const RULE_LENGTH = 120;

/** All monitors of the account; pausing, resuming and deleting one. */
export function listPages(pool: Queryable): PageRoute[] {
  return [
    get('/monitors', (visit) => show(pool, visit)),
    post('/monitors/:id/pause', async (visit) => {
      await visit.call('post', '/v1/monitors/:id/pause');
      return { redirect: `/monitors/${visit.id}?done=paused` };
    }),
    post('/monitors/:id/resume', async (visit) => {
      await visit.call('post', '/v1/monitors/:id/resume');
      return { redirect: `/monitors/${visit.id}?done=resumed` };
    }),
    post('/monitors/:id/delete', async (visit) => {
      await visit.call('delete', '/v1/monitors/:id');
      return { redirect: '/monitors?done=deleted' };
    }),
  ];
}

async function show(pool: Queryable, visit: Visit): Promise<ShownPage> {
  const [list, today] = await Promise.all([visit.read('/v1/monitors'), readMatchesToday(pool, visit.account.id)]);
  const { items, limit, used } = list as { items: Monitor[]; limit: number; used: number };
  const columns = ['Monitor', 'State', 'Today', 'Last match', 'Next charge', 'Actions'];
  const rows = items.map((monitor) => row(visit, monitor, today.get(monitor.id) ?? 0));
  return {
    title: 'Monitors',
    content: html`${doneNotice(visit, { deleted: 'The monitor is deleted.' })}
      <p>
        ${used} of ${limit} monitors.
        ${used >= limit && html`<a href="${visit.path('/billing')}">A larger pack</a> allows more.`}
      </p>
      <p><a class="button" href="${visit.path('/monitors/new')}">New monitor</a></p>
      ${items.length > 0 && html`<section id="monitors" data-live="15">${table('Your monitors', columns, rows)}</section>`}`,
  };
}

function row(visit: Visit, monitor: Monitor, today: number): HtmlValue[] {
  const { id, name, status, last_match_at: last, next_charge_at: charge, webhook_failing: isFailing } = monitor;
  const page = visit.path(`/monitors/${id}`);
  return [
    html`<a href="${page}">${name}</a><br /><code class="note">${shortRule(monitor)}</code>`,
    html`${stateInWords(monitor)}
    ${isFailing && html`<br /><a class="bad" href="${page}/webhook">The webhook is marked as failing</a>`}`,
    today,
    last === null ? 'none yet' : ago(last, visit.now),
    status === 'active' ? time(charge) : '–',
    html`${runButtons(visit, monitor)} <a href="${page}/edit">Change<span class="hidden"> ${name}</span></a>`,
  ];
}

function shortRule(monitor: Monitor): string {
  const text = printRuleQuery(ruleOfMonitor(monitor));
  return text.length <= RULE_LENGTH ? text : `${text.slice(0, RULE_LENGTH).toWellFormed()} …`;
}
