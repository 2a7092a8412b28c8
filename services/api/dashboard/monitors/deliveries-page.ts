import type { DeliveryLogEntry, DeliveryLogPage, Redelivery } from '../../../../schemas/api/delivery-log.ts';
import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { FieldProblems } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { field, select } from '../parts/field.ts';
import { postButton } from '../parts/post-button.ts';
import { time } from '../parts/time.ts';
import { answerInWords } from './delivery-errors.ts';
import { eventsSection } from './events-section.ts';
import { monitorNavigation } from './monitor-navigation.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** Every attempt to deliver a monitor's matches, with what the receiver answered; and its digests and spikes. */
export function deliveryPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/deliveries', handle: (visit) => show(deps, visit) },
    { method: 'post', path: '/monitors/:id/redeliver', handle: (visit) => resend(deps, visit) },
  ];
}

const STATES: Readonly<Record<DeliveryLogEntry['delivery_status'], string>> = {
  pending: 'failed, retried',
  delivered: 'delivered',
  failed: 'failed for good',
};
/** Why nothing was queued. */
const REASONS: ReadonlyMap<string, string> = new Map<NonNullable<Redelivery['reason']>, string>([
  ['nothing_fits', 'Nothing to send.'],
  [
    'waiting',
    'Nothing has failed for good. Some matches wait for their next attempt: “Send what is waiting now” sends them.',
  ],
  ['due', 'Everything that waits is being sent already.'],
]);
const NO_ATTEMPTS: DeliveryLogPage = { items: [], after: null };

async function show({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const { monitor } = body as { monitor: Monitor };
  const { page, problems } = await readLog({ callApi }, visit);
  const events = await eventsSection({ callApi }, visit, monitor);
  return {
    title: `Deliveries of “${monitor.name}”`,
    status: problems.size > 0 ? 400 : 200,
    content: html`${monitorNavigation(visit, id, '/deliveries')} ${resentNotice(visit)}
      <div class="actions">
        ${postButton(visit, {
          action: `/monitors/${id}/redeliver`,
          label: 'Send everything that failed again',
          fields: { status: 'failed' },
        })}
        ${postButton(visit, {
          action: `/monitors/${id}/redeliver`,
          label: 'Send what is waiting now',
          fields: { status: 'pending' },
        })}
        <span class="note">Ten a second, free, within the day’s limit.</span>
      </div>
      ${filterForm(visit, id, problems)}
      ${page.items.length === 0 ? html`<p class="note">No attempts here.</p>` : table(visit, id, page.items)}
      ${page.after !== null && html`<p><a href="${visit.path(olderPath(visit, id, page.after))}">Older attempts</a></p>`}
      ${events}`,
  };
}

async function readLog(
  { callApi }: Deps,
  { query, params, ...visit }: Visit,
): Promise<{ page: DeliveryLogPage; problems: FieldProblems }> {
  const given = ['after', 'match', 'status'].map((name) => [name, query.text(name)] as const);
  const request = { id: params.id ?? '', query: Object.fromEntries(given.filter(([, value]) => value !== '')) };
  try {
    const { body } = await callApi({ query, params, ...visit }, 'get', '/v1/monitors/:id/deliveries', request);
    return { page: body as DeliveryLogPage, problems: new Map() };
  } catch (error) {
    return { page: NO_ATTEMPTS, problems: problemsOf(error) };
  }
}

function resentNotice({ query }: Visit): HtmlValue {
  if (query.text('done') !== 'resent') return false;
  const count = Number(query.text('queued'));
  const said =
    Number.isSafeInteger(count) && count > 0
      ? `${count.toLocaleString('en')} queued.`
      : (REASONS.get(query.text('reason')) ?? 'Nothing to send.');
  return html`<p class="notice good" role="status">
    ${said} ${query.text('more') === 'yes' && 'There are more: press again when these are sent.'}
  </p>`;
}

function filterForm(visit: Visit, id: string, problems: FieldProblems): Html {
  const match = problems.get('match');
  return html`<details ${(problems.size > 0 || visit.query.text('status') !== '') && html`open`}>
    <summary>Filter</summary>
    ${[...problems].map(([name, message]) => name !== 'match' && html`<p class="notice bad" role="alert">${name}: ${message}</p>`)}
    <form class="narrow" action="${visit.path(`/monitors/${id}/deliveries`)}">
      ${select({
        name: 'status',
        label: 'Outcome',
        value: visit.query.text('status'),
        options: [['', 'All'], ...Object.entries(STATES)],
      })}
      ${field({
        name: 'match',
        label: 'Match',
        value: visit.query.text('match'),
        hint: 'The id of a match.',
        ...(match !== undefined && { problem: match }),
      })}
      <div class="actions"><button>Filter</button></div>
    </form>
  </details>`;
}

function table(visit: Visit, id: string, items: readonly DeliveryLogEntry[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Attempts">
    <table>
      <caption class="hidden">
        Attempts, the newest match first
      </caption>
      <thead>
        <tr>
          <th scope="col">Began</th>
          <th scope="col">Match</th>
          <th scope="col" class="number">Attempt</th>
          <th scope="col">Outcome</th>
          <th scope="col">Answer</th>
          <th scope="col">Next</th>
        </tr>
      </thead>
      <tbody>
        ${items.map((entry) => row(visit, id, entry))}
      </tbody>
    </table>
  </div>`;
}

function row(visit: Visit, id: string, entry: DeliveryLogEntry): Html {
  const { match_id: match, delivery_status: state, next_attempt_at: next, response_excerpt: excerpt } = entry;
  return html`<tr>
    <td>${time(entry.started_at)}</td>
    <td><a href="${visit.path(`/monitors/${id}/matches/${match}`)}">${match.slice(-12).replace(/^0+/, 'no. ')}</a></td>
    <td class="number">${entry.attempt}</td>
    <td class="${state === 'delivered' ? 'good' : 'bad'}">${STATES[state]}</td>
    <td>
      ${entry.host}, ${entry.duration_ms} ms. ${answerInWords(entry.status, entry.error)}.
      ${excerpt !== null && excerpt !== '' && html`<br /><code>${excerpt}</code>`}
    </td>
    <td>
      ${next !== null && time(next)}
      ${state !== 'pending' && postButton(visit, { action: `/monitors/${id}/redeliver`, label: 'Send again', fields: { match_ids: match } })}
    </td>
  </tr>`;
}

function olderPath({ query }: Visit, id: string, after: string): string {
  const parameters = new URLSearchParams({ after });
  for (const name of ['match', 'status']) if (query.text(name) !== '') parameters.set(name, query.text(name));
  return `/monitors/${id}/deliveries?${parameters.toString()}`;
}

async function resend({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  const [ids, status] = [visit.form.all('match_ids'), visit.form.text('status')];
  const body = ids.length > 0 ? { match_ids: ids } : { status };
  const answer = await callApi(visit, 'post', '/v1/monitors/:id/redeliver', { id, body });
  const { queued, more, reason } = answer.body as Redelivery;
  const rest = `${more ? '&more=yes' : ''}${reason === undefined ? '' : `&reason=${reason}`}`;
  return { redirect: `/monitors/${id}/deliveries?done=resent&queued=${queued}${rest}` };
}
