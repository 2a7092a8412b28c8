import type {
  DeliveryLogEntry,
  DeliveryLogPage,
  EventLogEntry,
  EventLogPage,
  Redelivery,
} from '../../../../schemas/api/deliveries.ts';
import type { Monitor } from '../../../../schemas/api/monitors.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { get, NO_PROBLEMS, post, problemsOf } from '../page.ts';
import type { FieldProblems, PageAnswer, PageRoute, ShownPage, Visit } from '../page.ts';
import { field, notice, number, otherProblems, postButton, select, table, time, typed } from '../parts.ts';
import { answerInWords, matchLink, monitorPage, readMonitor } from './monitor-frame.ts';

/** Every attempt to deliver a monitor's matches, with what the receiver answered; and its digests and spikes. */
export const deliveryPages: PageRoute[] = [
  get('/monitors/:id/deliveries', show),
  post('/monitors/:id/redeliver', resend),
];

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

async function show(visit: Visit): Promise<ShownPage> {
  const monitor = await readMonitor(visit);
  const { page, problems } = await readLog(visit);
  const action = `/monitors/${visit.id}/redeliver`;
  return monitorPage(visit, '/deliveries', {
    title: `Deliveries of “${monitor.name}”`,
    problems,
    content: html`${resentNotice(visit)}
      <div class="actions">
        ${postButton(visit, { action, label: 'Send everything that failed again', fields: { status: 'failed' } })}
        ${postButton(visit, { action, label: 'Send what is waiting now', fields: { status: 'pending' } })}
        <span class="note">Ten a second, free, within the day’s limit.</span>
      </div>
      ${filterForm(visit, problems)}
      ${page.items.length === 0 ? html`<p class="note">No attempts here.</p>` : attemptsTable(visit, page.items)}
      ${page.after !== null && html`<p><a href="${visit.path(olderPath(visit, page.after))}">Older attempts</a></p>`}
      ${await eventsSection(visit, monitor)}`,
  });
}

async function readLog(visit: Visit): Promise<{ page: DeliveryLogPage; problems: FieldProblems }> {
  try {
    const query = visit.query.given(['after', 'match', 'status']);
    const page = await visit.read('/v1/monitors/:id/deliveries', { query });
    return { page: page as DeliveryLogPage, problems: NO_PROBLEMS };
  } catch (error) {
    return { page: { items: [], after: null }, problems: problemsOf(error) };
  }
}

function resentNotice({ query }: Visit): HtmlValue {
  if (query.text('done') !== 'resent') return false;
  const count = Number(query.text('queued'));
  const said =
    Number.isSafeInteger(count) && count > 0
      ? `${number(count)} queued.`
      : (REASONS.get(query.text('reason')) ?? 'Nothing to send.');
  const more = query.text('more') === 'yes' && ' There are more: press again when these are sent.';
  return notice('good', html`${said}${more}`);
}

function filterForm(visit: Visit, problems: FieldProblems): Html {
  const { query } = visit;
  return html`<details ${(problems.size > 0 || query.text('status') !== '') && html`open`}>
    <summary>Filter</summary>
    ${otherProblems(problems, ['match'])}
    <form class="narrow" action="${visit.path(`/monitors/${visit.id}/deliveries`)}">
      ${select({
        name: 'status',
        label: 'Outcome',
        value: query.text('status'),
        options: [['', 'All'], ...Object.entries(STATES)],
      })}
      ${field({ ...typed(query, problems, 'match'), label: 'Match', hint: 'The id of a match.' })}
      <div class="actions"><button>Filter</button></div>
    </form>
  </details>`;
}

function attemptsTable(visit: Visit, items: readonly DeliveryLogEntry[]): Html {
  const action = `/monitors/${visit.id}/redeliver`;
  const rows = items.map((entry) => {
    const { match_id: match, delivery_status: state, next_attempt_at: next, response_excerpt: excerpt } = entry;
    return [
      time(entry.started_at),
      matchLink(visit, match),
      entry.attempt,
      html`<span class="${state === 'delivered' ? 'good' : 'bad'}">${STATES[state]}</span>`,
      html`${entry.host}, ${entry.duration_ms} ms. ${answerInWords(entry.status, entry.error)}.
      ${excerpt !== null && excerpt !== '' && html`<br /><code>${excerpt}</code>`}`,
      html`${next !== null && time(next)}
      ${state !== 'pending' && postButton(visit, { action, label: 'Send again', fields: { match_ids: match } })}`,
    ];
  });
  const columns = ['Began', 'Match', 'Attempt', 'Outcome', 'Answer', 'Next'];
  return table('Attempts, the newest match first', columns, rows);
}

function olderPath({ id, query }: Visit, after: string): string {
  const parameters = new URLSearchParams({ after, ...query.given(['match', 'status']) });
  return `/monitors/${id}/deliveries?${parameters.toString()}`;
}

async function resend(visit: Visit): Promise<PageAnswer> {
  const [ids, status] = [visit.form.all('match_ids'), visit.form.text('status')];
  const body = ids.length > 0 ? { match_ids: ids } : { status };
  const answer = await visit.call('post', '/v1/monitors/:id/redeliver', { body });
  const { queued, more, reason } = answer.body as Redelivery;
  const rest = `${more ? '&more=yes' : ''}${reason === undefined ? '' : `&reason=${reason}`}`;
  return { redirect: `/monitors/${visit.id}/deliveries?done=resent&queued=${queued}${rest}` };
}

const EVENTS_PER_PAGE = 10;
/** The parameter of the page that shows older events. */
const EVENTS_AFTER = 'events_after';

const EVENT_STATES: Readonly<Record<EventLogEntry['delivery_status'], string>> = {
  pending: 'waits to be sent',
  delivered: 'delivered',
  failed: 'failed for good',
  skipped: 'not sent: there was no webhook',
};

/** The digests and spikes that were sent to a monitor's webhook. Nothing when it has none and none is asked for. */
async function eventsSection(visit: Visit, monitor: Monitor): Promise<HtmlValue> {
  const after = visit.query.text(EVENTS_AFTER);
  const query = { limit: String(EVENTS_PER_PAGE), ...(after !== '' && { after }) };
  const heading = html`<h2 id="events">Digests and spikes</h2>`;
  let page: EventLogPage;
  try {
    page = (await visit.read('/v1/monitors/:id/events', { query })) as EventLogPage;
  } catch (error) {
    return [heading, notice('bad', [...problemsOf(error).values()].join('; '))];
  }
  if (page.items.length > 0) return [heading, eventsTable(visit, page)];
  const isSent = monitor.webhook_url !== null && (monitor.digest !== undefined || monitor.spike_webhook === true);
  return isSent && [heading, html`<p class="note">${after === '' ? 'None was sent yet.' : 'None on this page.'}</p>`];
}

function eventsTable(visit: Visit, { items, after }: EventLogPage): Html {
  const rows = items.map((entry) => {
    const { delivery_status: state, last_status: status, next_attempt_at: next } = entry;
    return [
      time(entry.created_at),
      contentInWords(visit, entry),
      html`<span class="${state === 'delivered' && 'good'} ${state === 'failed' && 'bad'}"
        >${EVENT_STATES[state]}${state === 'pending' && next !== null && html`, ${time(next)}`}</span
      >`,
      entry.attempts,
      status !== null && `${answerInWords(status, entry.last_error)}.`,
    ];
  });
  const older = after !== null && new URLSearchParams({ [EVENTS_AFTER]: after }).toString();
  const page = visit.path(`/monitors/${visit.id}/deliveries`);
  return html`${table('Digests and spikes', ['Made', 'What', 'Outcome', 'Attempts', 'Last answer'], rows)}
  ${older !== false && html`<p><a href="${page}?${older}#events">Older digests and spikes</a></p>`}`;
}

function contentInWords(visit: Visit, { spike, digest }: EventLogEntry): HtmlValue {
  if (spike !== undefined) {
    return html`Spike: ${number(spike.count)} matches in the hour of ${time(spike.at)}, usually
    ${number(spike.expected)}`;
  }
  if (digest === undefined) return false;
  const { interval, count, until } = digest;
  return html`Digest (${interval}) of ${number(count)} ${count === 1 ? 'match' : 'matches'}, the last one:
  ${matchLink(visit, until)}`;
}
