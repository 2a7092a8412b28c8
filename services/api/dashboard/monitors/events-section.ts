import type { EventLogEntry, EventLogPage } from '../../../../schemas/api/event-log.ts';
import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { Visit } from '../page-route.ts';
import { time } from '../parts/time.ts';
import { answerInWords } from './delivery-errors.ts';

const PER_PAGE = 10;
/** The parameter of the page that shows older events. */
const AFTER = 'events_after';

const STATES: Readonly<Record<EventLogEntry['delivery_status'], string>> = {
  pending: 'waits to be sent',
  delivered: 'delivered',
  failed: 'failed for good',
  skipped: 'not sent: there was no webhook',
};

/** The digests and spikes that were sent to a monitor's webhook. Nothing when it has none and none is asked for. */
export async function eventsSection(
  { callApi }: Pick<DashboardDeps, 'callApi'>,
  visit: Visit,
  monitor: Monitor,
): Promise<HtmlValue> {
  const after = visit.query.text(AFTER);
  const query = { limit: String(PER_PAGE), ...(after !== '' && { after }) };
  const page = await callApi(visit, 'get', '/v1/monitors/:id/events', { id: monitor.id, query }).then(
    ({ body }) => body as EventLogPage,
    (error: unknown) => problemsOf(error),
  );
  const heading = html`<h2 id="events">Digests and spikes</h2>`;
  if (!('items' in page))
    return html`${heading}
      <p class="notice bad" role="alert">${[...page.values()].join('; ')}</p>`;
  const isSent = monitor.webhook_url !== null && (monitor.digest !== undefined || monitor.spike_webhook === true);
  if (page.items.length > 0) return html`${heading} ${table(visit, monitor.id, page)}`;
  return (
    isSent &&
    html`${heading}
      <p class="note">${after === '' ? 'None was sent yet.' : 'None on this page.'}</p>`
  );
}

function table(visit: Visit, id: string, { items, after }: EventLogPage): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Digests and spikes">
      <table>
        <caption class="hidden">
          Digests and spikes, the newest first
        </caption>
        <thead>
          <tr>
            <th scope="col">Made</th>
            <th scope="col">What</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">Attempts</th>
            <th scope="col">Last answer</th>
          </tr>
        </thead>
        <tbody>
          ${items.map((entry) => row(visit, id, entry))}
        </tbody>
      </table>
    </div>
    ${after !== null && html`<p><a href="${visit.path(olderPath(id, after))}">Older digests and spikes</a></p>`}`;
}

function row(visit: Visit, id: string, entry: EventLogEntry): Html {
  const { delivery_status: state, last_status: status, next_attempt_at: next } = entry;
  return html`<tr>
    <td>${time(entry.created_at)}</td>
    <td>${contentInWords(visit, id, entry)}</td>
    <td class="${state === 'delivered' && 'good'} ${state === 'failed' && 'bad'}">
      ${STATES[state]}${state === 'pending' && next !== null && html`, ${time(next)}`}
    </td>
    <td class="number">${entry.attempts}</td>
    <td>${status !== null && `${answerInWords(status, entry.last_error)}.`}</td>
  </tr>`;
}

function contentInWords(visit: Visit, id: string, { spike, digest }: EventLogEntry): HtmlValue {
  const number = (value: number) => value.toLocaleString('en');
  if (spike !== undefined) {
    return html`Spike: ${number(spike.count)} matches in the hour of ${time(spike.at)}, usually
    ${number(spike.expected)}`;
  }
  if (digest === undefined) return false;
  const { interval, count, until } = digest;
  return html`Digest (${interval}) of ${number(count)} ${count === 1 ? 'match' : 'matches'}, the last one:
    <a href="${visit.path(`/monitors/${id}/matches/${until}`)}">${until.slice(-12).replace(/^0+/, 'no. ')}</a>`;
}

function olderPath(id: string, after: string): string {
  return `/monitors/${id}/deliveries?${new URLSearchParams({ [AFTER]: after }).toString()}#events`;
}
