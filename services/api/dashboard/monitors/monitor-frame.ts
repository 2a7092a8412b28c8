import type { Monitor, MonitorDelivery, RuleWarning } from '../../../../schemas/api/monitors.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/domain/accounts/credits.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { NO_PROBLEMS } from '../page.ts';
import type { FieldProblems, ShownPage, Visit } from '../page.ts';
import { copyable, doneNotice, list, postButton } from '../parts.ts';

const PAGES = [
  ['', 'Matches'],
  ['/edit', 'Rule'],
  ['/webhook', 'Webhook'],
  ['/deliveries', 'Deliveries'],
  ['/mutes', 'Mutes'],
  ['/export', 'Export'],
  ['/earlier', 'Earlier'],
  ['/trends', 'Trends'],
  ['/explain', 'Why?'],
] as const;

/** What was done before a redirect to a page of a monitor. */
const DONE: Readonly<Record<string, string>> = {
  changed: 'The change is stored. What enters from now on is matched by it.',
  paused: 'The monitor is paused. Nothing is charged while it is.',
  resumed: 'The monitor runs.',
  muted: 'Muted.',
  removed: 'The mute is removed.',
  revoked: 'The feed is revoked. Its addresses no longer work.',
  started: 'It waits for its turn. What it finds appears among the matches.',
  cancelled: 'It is cancelled: nothing more is recorded or charged.',
};

/** @throws ApiError not_found */
export async function readMonitor(visit: Visit): Promise<Monitor> {
  return ((await visit.read('/v1/monitors/:id')) as { monitor: Monitor }).monitor;
}

/** One of the pages of a monitor, with links to the others. */
export function monitorPage(
  visit: Visit,
  current: (typeof PAGES)[number][0],
  page: { title: string; content: HtmlValue; problems?: FieldProblems },
): ShownPage {
  const { title, content, problems = NO_PROBLEMS } = page;
  const links = PAGES.map(
    ([below, name]) =>
      html`<a href="${visit.path(`/monitors/${visit.id}${below}`)}" ${below === current && html`aria-current="page"`}
        >${name}</a
      >`,
  );
  return {
    title,
    status: problems.size > 0 ? 400 : 200,
    content: html`<nav aria-label="This monitor"><p class="actions">${links}</p></nav>
      ${doneNotice(visit, DONE)} ${content}`,
  };
}

const STATES: Readonly<Record<Monitor['status'], string>> = {
  active: 'Running',
  paused: 'Paused',
  paused_balance: 'Paused: the credits ran out',
  deleted: 'Deleted',
};

/** What a monitor does now. */
export function stateInWords({ status }: Pick<Monitor, 'status'>): Html {
  return html`<span class="state ${status === 'active' ? 'good' : status === 'paused' ? '' : 'bad'}"
    >${STATES[status]}</span
  >`;
}

/** The button that pauses or resumes a monitor; what resuming costs is on it. */
export function runButtons(visit: Visit, { id, name, status }: Monitor): Html {
  const of = html`<span class="hidden"> ${name}</span>`;
  return status === 'active'
    ? postButton(visit, { action: `/monitors/${id}/pause`, label: html`Pause${of}` })
    : postButton(visit, {
        action: `/monitors/${id}/resume`,
        label: html`Resume${of} for ${MONITOR_PERIOD_CREDITS} credits`,
      });
}

/** Why a delivery failed, in words, by the errors of the log of deliveries. */
const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'it did not answer within 8 seconds',
  dns: 'its name was not found',
  tls: 'its certificate or TLS was not accepted',
  connect: 'no connection could be made',
  blocked_address: 'it leads to an address that is not public',
  redirect: 'it redirects, which is not followed',
  http_status: 'its answer is not a 2xx',
  local: 'something failed on our side',
  secret_unreadable: 'its secret cannot be read any more; make a new one',
};

/** An answer of a receiver: "It answered 500: its answer is not a 2xx". @param status 0: no answer */
export function answerInWords(status: number, error: string | null): string {
  const answered = status === 0 ? 'It did not answer' : `It answered ${status}`;
  return error === null ? answered : `${answered}: ${ERRORS[error] ?? error}`;
}

const DELIVERIES: Readonly<Record<MonitorDelivery['state'], string>> = {
  ok: 'Matches reach the webhook',
  retrying: 'The last delivery failed',
  failing: 'The webhook fails',
  none: 'No webhook: matches are only kept here',
};

/** Whether matches reach the webhook. */
export function deliveryInWords({ state, last_status: status, last_error: error }: MonitorDelivery): Html {
  const why = error === null ? '' : `. ${answerInWords(status ?? 0, error)}`;
  return html`<span class="state ${state === 'ok' || state === 'none' ? '' : 'bad'}">${DELIVERIES[state]}${why}</span>`;
}

/** A link to a match, named by its number. */
export function matchLink({ id, path }: Visit, match: string): Html {
  return html`<a href="${path(`/monitors/${id}/matches/${match}`)}">${match.slice(-12).replace(/^0+/, 'no. ')}</a>`;
}

/** A webhook secret, which no other page shows. */
export function secretShownOnce(secret: string): Html {
  return html`<h2>The secret that signs its webhooks</h2>
    <p>It is shown only now. Receivers verify signatures with it.</p>
    ${copyable('secret', secret, 'the secret')}`;
}

/** What a rule says, sentence by sentence. */
export function said(sentences: readonly string[] | undefined): HtmlValue {
  return (
    sentences !== undefined &&
    html`<div class="notice" id="said">
      <p><strong>In words:</strong></p>
      ${list(sentences)}
    </div>`
  );
}

export function warningsNotice(warnings: readonly RuleWarning[] | undefined): HtmlValue {
  return (
    warnings !== undefined &&
    html`<div class="notice bad">
      <p><strong>It may not do what you mean:</strong></p>
      ${list(warnings.map(({ message }) => message))}
    </div>`
  );
}
