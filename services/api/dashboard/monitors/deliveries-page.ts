import type {
  DeliveryLogEntry,
  DeliveryLogPage,
  EventLogEntry,
  EventLogPage,
  Redelivery,
} from '../../../../schemas/api/deliveries.ts';
import type { Monitor, MonitorDelivery } from '../../../../schemas/api/monitors.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import { attempt, get, post } from '../page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import { ago, figures, icon, notice, number, otherProblems, postButton, table, time } from '../parts.ts';
import { answerInWords, deliveryInWords, matchLink, monitorPage } from './monitor-frame.ts';
import { deliveryForm } from './webhook-page.ts';

/** Every attempt to deliver a match, a digest or a spike, with its answer; what waits or failed is sent again. */
export const deliveriesPages: PageRoute[] = [
  get('/monitors/:id/deliveries', showDeliveries),
  post('/monitors/:id/redeliver', resend),
];

const STATES: Readonly<Record<DeliveryLogEntry['delivery_status'], string>> = {
  pending: 'failed, will be retried',
  delivered: 'delivered',
  failed: 'failed permanently',
};
const REASONS: ReadonlyMap<string, string> = new Map<NonNullable<Redelivery['reason']>, string>([
  [
    'waiting',
    'Nothing has failed permanently. Some matches are waiting for their next attempt: “Send waiting matches now” sends them.',
  ],
  ['due', 'All waiting matches are already being sent.'],
]);

async function showDeliveries(request: PageRequest): Promise<ShownPage> {
  const { monitor, delivery } = (await request.read('/v1/monitors/:id')) as {
    monitor: Monitor;
    delivery: MonitorDelivery;
  };
  const query = request.query.given(['after', 'match', 'status']);
  const { value, problems } = await attempt(request.read('/v1/monitors/:id/deliveries', { query }));
  const { items, after } = (value ?? { items: [], after: null }) as DeliveryLogPage;
  const older = after !== null && new URLSearchParams({ ...query, after }).toString();
  const title = `Deliveries of “${monitor.name}”`;
  const isUnused = delivery.state === 'none' && items.length === 0 && Object.keys(query).length === 0;
  if (isUnused && problems.size === 0) {
    const content = html`<p>
        Matches are ${monitor.notify === undefined ? 'only shown here' : 'mailed to you'}. With a webhook, each is also
        sent to a program, or to a channel of Slack or Discord, within seconds.
      </p>
      ${deliveryForm(request, monitor)} ${await eventsSection(request, monitor)}`;
    return monitorPage(request, '/deliveries', { monitor, title, content });
  }
  return monitorPage(request, '/deliveries', {
    monitor,
    title,
    problems,
    content: html`${resentNotice(request)}
      <div id="state" data-live>${deliveryState(request, delivery)}</div>
      <h2>Attempts</h2>
      ${outcomeChips(request)} ${otherProblems(problems, [])}
      ${
        items.length === 0
          ? html`<p class="note">No attempts.</p>`
          : html`<div class="compact" id="attempts" data-live>${attemptsTable(request, items)}</div>`
      }
      ${older !== false && html`<p><a href="${request.path(`/monitors/${request.id}/deliveries?${older}`)}">Older attempts</a></p>`}
      ${await eventsSection(request, monitor)}`,
  });
}

function deliveryState(request: PageRequest, delivery: MonitorDelivery): HtmlValue {
  const { now, id } = request;
  const { state, pending, oldest_pending_at: oldest, last_delivered_at: delivered } = delivery;
  const { last_attempt_at: attempted, attempt_failures_24h: failures } = delivery;
  const action = `/monitors/${id}/redeliver`;
  const waiting = { action, label: 'Send waiting matches now', fields: { status: 'pending' } };
  const failed = { action, label: 'Resend everything that failed', fields: { status: 'failed' } };
  const large = (at: string) => html`<span class="large">${ago(at, now)}</span>`;
  return [
    figures([
      [
        'Webhook',
        html`<p>${deliveryInWords(delivery)}</p>`,
        state !== 'none' && html`<a href="${request.path(`/monitors/${id}/webhook`)}">Test it</a>`,
      ],
      [
        'Last success',
        delivered === null ? 'never' : large(delivered),
        attempted !== null && html`last attempt ${ago(attempted, now)}`,
      ],
      [
        'Waiting',
        `${number(pending)}${pending >= 1_000 ? '+' : ''}`,
        oldest !== null && html`the oldest came ${ago(oldest, now)}`,
      ],
      ['Failed attempts', number(failures), 'in 24 hours'],
    ]),
    html`<div class="actions">
      ${postButton(request, waiting, pending > 0 ? '' : 'quiet')} ${postButton(request, failed)}
      <span class="note">Free. Ten per second, within the daily cap.</span>
    </div>`,
  ];
}

function resentNotice({ query }: PageRequest): HtmlValue {
  if (query.text('done') !== 'resent') return false;
  const count = Number(query.text('queued'));
  const message =
    Number.isSafeInteger(count) && count > 0
      ? `${number(count)} ${count === 1 ? 'match' : 'matches'} queued. The numbers below follow as they are sent.`
      : (REASONS.get(query.text('reason')) ?? 'Nothing to send.');
  const more = query.text('more') === 'yes' && ' There are more. Press again when these are sent.';
  return notice('good', html`${message}${more}`);
}

/** The outcomes to filter by, and the match that the page is about. */
function outcomeChips({ id, path, query }: PageRequest): Html {
  const given = query.given(['match', 'status']);
  const link = (changes: Record<string, string>, name: HtmlValue, isCurrent: boolean) => {
    const kept = Object.entries({ ...given, ...changes }).filter(([, value]) => value !== '');
    const address = `/monitors/${id}/deliveries${kept.length > 0 ? `?${new URLSearchParams(kept).toString()}` : ''}`;
    return html`<a href="${path(address)}" ${isCurrent && html`aria-current="true"`}>${name}</a>`;
  };
  const { match, status = '' } = given;
  return html`<nav class="pills" aria-label="Outcome">
    ${[['', 'All'] as const, ...Object.entries(STATES)].map(([state, words]) =>
      link({ status: state }, `${words.charAt(0).toUpperCase()}${words.slice(1)}`, state === status),
    )}
    ${
      match !== undefined &&
      link({ match: '' }, html`<span class="hidden">Remove the filter </span>Match ${match} ${icon('x-mark')}`, false)
    }
  </nav>`;
}

function attemptsTable(request: PageRequest, items: readonly DeliveryLogEntry[]): Html {
  const action = `/monitors/${request.id}/redeliver`;
  const isOver = (entry: DeliveryLogEntry) =>
    items.some(({ match_id: match, attempt }) => match === entry.match_id && attempt > entry.attempt);
  const newest = items.toSorted((one, other) => other.started_at.localeCompare(one.started_at));
  const rows = newest.map((entry) => {
    const { match_id: match, delivery_status: state, next_attempt_at: next, response_excerpt: excerpt } = entry;
    const kind = state === 'delivered' ? 'good' : state === 'pending' ? 'warn' : 'bad';
    return [
      ago(entry.started_at, request.now),
      matchLink(request, match),
      html`<span class="state ${kind}"
          >${state === 'pending' && isOver(entry) ? 'failed, was retried' : STATES[state]}</span
        ><br /><span class="note">attempt ${entry.attempt}</span>`,
      html`${answerInWords(entry.status, entry.error)}
        <span class="note">${entry.host}, ${entry.duration_ms} ms</span>
        ${excerpt !== null && excerpt !== '' && html`<br /><code>${excerpt}</code>`}`,
      html`${next !== null && !isOver(entry) && time(next)}
      ${state !== 'pending' && postButton(request, { action, label: 'Send again', fields: { match_ids: match } })}`,
    ];
  });
  return table('Attempts, newest first', ['Started', 'Match', 'Outcome', 'Response', 'Next'], rows);
}

async function resend(request: PageRequest): Promise<PageResponse> {
  const [ids, status] = [request.form.all('match_ids'), request.form.text('status')];
  const body = ids.length > 0 ? { match_ids: ids } : { status };
  const response = await request.call('post', '/v1/monitors/:id/redeliver', { body });
  const { queued, more, reason } = response.body as Redelivery;
  const rest = `${more ? '&more=yes' : ''}${reason === undefined ? '' : `&reason=${reason}`}`;
  return { redirect: `/monitors/${request.id}/deliveries?done=resent&queued=${queued}${rest}` };
}

const EVENTS_PER_PAGE = 10;
const EVENTS_AFTER = 'events_after';

const EVENT_STATES: Readonly<Record<EventLogEntry['delivery_status'], string>> = {
  pending: 'waiting to be sent',
  delivered: 'delivered',
  failed: 'failed permanently',
  skipped: 'not sent: no webhook',
};

/** The digests and spikes that were sent to a monitor's webhook. Nothing where there are and will be none. */
async function eventsSection(request: PageRequest, monitor: Monitor): Promise<HtmlValue> {
  const after = request.query.text(EVENTS_AFTER);
  const query = { limit: String(EVENTS_PER_PAGE), ...(after !== '' && { after }) };
  const heading = html`<h2 id="events">Digests and spikes</h2>`;
  const { value, problems } = await attempt(request.read('/v1/monitors/:id/events', { query }));
  if (value === undefined) return [heading, notice('bad', [...problems.values()].join('; '))];
  const page = value as EventLogPage;
  if (page.items.length > 0) return [heading, eventsTable(request, page)];
  const isSent = monitor.webhook_url !== null && (monitor.digest !== undefined || monitor.spike_webhook === true);
  return isSent && [heading, html`<p class="note">${after === '' ? 'None sent yet.' : 'None on this page.'}</p>`];
}

function eventsTable(request: PageRequest, { items, after }: EventLogPage): Html {
  const rows = items.map((entry) => {
    const { delivery_status: state, last_status: status, next_attempt_at: next } = entry;
    return [
      time(entry.created_at),
      contentInWords(request, entry),
      html`<span class="${state === 'delivered' && 'good'} ${state === 'failed' && 'bad'}"
        >${EVENT_STATES[state]}${state === 'pending' && next !== null && html`, ${time(next)}`}</span
      >`,
      entry.attempts,
      status !== null && `${answerInWords(status, entry.last_error)}.`,
    ];
  });
  const older = after !== null && new URLSearchParams({ [EVENTS_AFTER]: after }).toString();
  const page = request.path(`/monitors/${request.id}/deliveries`);
  return html`${table('Digests and spikes', ['Created', 'What', 'Outcome', 'Attempts', 'Last response'], rows)}
  ${older !== false && html`<p><a href="${page}?${older}#events">Older digests and spikes</a></p>`}`;
}

function contentInWords(request: PageRequest, { spike, digest }: EventLogEntry): HtmlValue {
  if (spike !== undefined) {
    return html`Spike: ${number(spike.count)} matches in the hour of ${time(spike.at)}; usually
    ${number(spike.expected)}`;
  }
  if (digest === undefined) return false;
  const { interval, count, until } = digest;
  return html`Digest (${interval}) of ${number(count)} ${count === 1 ? 'match' : 'matches'}; the last one:
  ${matchLink(request, until)}`;
}
