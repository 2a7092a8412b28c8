import type { Backfill } from '../../../../schemas/api/backfills.ts';
import { EXPORT_FORMATS } from '../../../../schemas/api/matches.ts';
import type { ExportFormat, FeedAddresses } from '../../../../schemas/api/matches.ts';
import type { Monitor } from '../../../../schemas/api/monitors.ts';
import { MATCHES_PER_CREDIT, MATCHES_PER_RUN } from '../../../../shared/backfills/rules/backfill-numbering.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import { readFeedTokenTime } from '../../../../shared/matches/feed-tokens.ts';
import { StreamedBody } from '../../http/response-stream.ts';
import { action, attempt, get, NO_PROBLEMS, post } from '../page.ts';
import type { FieldProblems, PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import {
  checkbox,
  copyable,
  dangerousButton,
  field,
  number,
  otherProblems,
  pills,
  postButton,
  select,
  table,
  time,
  typed,
} from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FEED = '/monitors/:id/feed';

/** Earlier matches, exports and the feed of a monitor. */
export function exportPages(pool: Queryable): PageRoute[] {
  return [
    get('/monitors/:id/earlier', (request) => showEarlier(request)),
    post('/monitors/:id/earlier', start),
    post('/monitors/:id/earlier/cancel', async (request) => {
      await request.call('delete', '/v1/monitors/:id/backfill/:run_id', { partId: request.form.text('run') });
      return { redirect: `/monitors/${request.id}/earlier?done=cancelled` };
    }),
    get('/monitors/:id/export', (request) => showExport(pool, request)),
    get('/monitors/:id/export/:format', async (request) => {
      const query = { format: request.params.format ?? '', ...request.query.given(['from']) };
      const { body, headers = {} } = await request.call('get', '/v1/monitors/:id/matches/export', { query });
      if (!(body instanceof StreamedBody)) throw new Error('an export is a stream');
      return { headers, body };
    }),
    post(FEED, async (request) => {
      const { body } = await request.call('post', '/v1/monitors/:id/feed-token');
      return showExport(pool, request, addresses(body as FeedAddresses));
    }),
    action(`${FEED}/revoke`, 'delete', '/v1/monitors/:id/feed-token', '/monitors/:id/export?done=revoked'),
  ];
}

export const BACKFILL_HOURS = [
  ['24', 'The last 24 hours'],
  ['72', 'The last 3 days'],
  ['168', 'The last 7 days'],
  ['720', 'The last 30 days'],
] as const;

async function showEarlier(request: PageRequest, problems = NO_PROBLEMS): Promise<ShownPage> {
  const [monitor, list] = await Promise.all([readMonitor(request), request.read('/v1/monitors/:id/backfill')]);
  const { items } = list as { items: Backfill[] };
  const running = items.find(({ ended_at: endedAt }) => endedAt === null);
  return monitorPage(request, '/earlier', {
    monitor,
    title: `Earlier matches of “${monitor.name}”`,
    problems,
    content: html`${running === undefined ? startForm(request, monitor, problems) : underWay(request, running)}
    ${items.length > 0 && runsTable(items)}`,
  });
}

function underWay(request: PageRequest, run: Backfill): Html {
  const page = `/monitors/${request.id}/earlier`;
  const cancel = postButton(request, { action: `${page}/cancel`, label: 'Cancel', fields: { run: run.id } });
  return html`<p>Earlier matches are being found. <a href="${request.path(page)}">View progress</a></p>
    ${run.state === 'running' && html`<div class="actions">${cancel}<span class="note">What was found stays.</span></div>`}`;
}

function startForm(request: PageRequest, { id, webhook_url: url }: Monitor, problems: FieldProblems): Html {
  const { form, account } = request;
  return html`<p>
      Posts and comments of the last 30 days that match the current rule are added to the matches of this monitor. Items
      that are already matches are skipped and cost nothing.
    </p>
    <form method="post" action="${request.path(`/monitors/${id}/earlier`)}" class="narrow">
      ${request.csrfField} ${otherProblems(problems, ['max_credits'])}
      ${select({ name: 'hours', label: 'How far back', value: form.text('hours') || '24', options: BACKFILL_HOURS })}
      ${field({
        ...typed(form, problems, 'max_credits', '10'),
        label: 'Maximum cost in credits',
        inputmode: 'numeric',
        hint: 'Leave it empty for no limit. Another run can find the rest.',
      })}
      ${
        url !== null &&
        checkbox('deliver', 'Also send them to the webhook, as far as today’s daily cap allows', form.has('deliver'))
      }
      <div class="actions">
        <button>Find earlier matches</button>
        <span class="note"
          >Costs 1 credit per ${MATCHES_PER_CREDIT} matches, rounded up. A run finds at most ${number(MATCHES_PER_RUN)}
          matches. You have ${number(account.balance)} credits.</span
        >
      </div>
    </form>`;
}

const STATES: Readonly<Record<Backfill['state'], string>> = {
  running: 'in progress',
  cancelling: 'being cancelled',
  done: 'done',
  stopped_balance: 'stopped: no credits left',
  stopped_credits: 'stopped: maximum cost reached',
  stopped_limit: `stopped: ${number(MATCHES_PER_RUN)} matches found`,
  cancelled: 'cancelled',
  failed: 'failed: an error on our side',
};

function runsTable(items: readonly Backfill[]): Html {
  const rows = items.map((run) => [
    html`${time(run.from)} to ${time(run.to)}`,
    html`${STATES[run.state]}${progressOf(run)}`,
    html`${number(run.matches)}${run.delivered > 0 && `, ${number(run.delivered)} sent`}`,
    run.already_known,
    run.credits,
  ]);
  return html`<h2>Runs</h2>
    ${table('Runs, newest first', ['Time', 'State', 'Matches', 'Already known', 'Credits'], rows)}`;
}

function progressOf({ state, share }: Backfill): HtmlValue {
  if (state === 'done') return false;
  const percent = Math.floor(share * 100);
  return html`<br /><progress max="100" value="${percent}">${percent} %</progress> ${percent} %`;
}

async function start(request: PageRequest): Promise<PageResponse> {
  const { form, now } = request;
  const hours = BACKFILL_HOURS.find(([value]) => value === form.text('hours'))?.[0] ?? '24';
  const most = form.text('max_credits');
  const body = {
    from: new Date(now - Number(hours) * HOUR_MS).toISOString(),
    deliver: form.has('deliver'),
    ...(most !== '' && { max_credits: Number(most) }),
  };
  const { value, problems } = await attempt(request.call('post', '/v1/monitors/:id/backfill', { body }));
  return value === undefined
    ? showEarlier(request, problems)
    : { redirect: `/monitors/${request.id}/earlier?done=started` };
}

const FORMATS: Readonly<Record<ExportFormat, string>> = {
  csv: 'CSV, for spreadsheets',
  ndjson: 'JSON, one match per line',
  parquet: 'Parquet, for analysis',
};

const PERIODS: readonly (readonly [name: string, words: string, from: (now: number) => number | undefined])[] = [
  ['', 'Last 30 days', () => undefined],
  ['week', 'Last 7 days', (now) => now - 7 * DAY_MS],
  ['day', 'Last 24 hours', (now) => now - DAY_MS],
  ['today', 'Today (UTC)', (now) => Math.floor(now / DAY_MS) * DAY_MS],
];

async function showExport(pool: Queryable, request: PageRequest, first: HtmlValue = ''): Promise<ShownPage> {
  const monitor = await readMonitor(request);
  const page = request.path(`/monitors/${request.id}/export`);
  const period = PERIODS.find(([name]) => name === request.query.text('period')) ?? PERIODS[0]!;
  const from = period[2](request.now);
  const since = from === undefined ? '' : `?from=${new Date(from).toISOString()}`;
  const links = PERIODS.map(
    ([name, words]) => [`${page}${name === '' ? '' : `?period=${name}`}`, words, name === period[0]] as const,
  );
  return monitorPage(request, '/export', {
    monitor,
    title: `Export and feed of “${monitor.name}”`,
    content: html`${first}
      <h2>Download</h2>
      <p>The matches in one file, oldest first. Free, up to ten times in 24 hours.</p>
      ${pills('Recorded in', links)}
      <div class="actions">
        ${EXPORT_FORMATS.map(
          (format) => html`<a class="button quiet" href="${page}/${format}${since}" download>${FORMATS[format]}</a>`,
        )}
      </div>
      <h2>Feed</h2>
      ${feed(request, await readFeedTokenTime(pool, request.id))}`,
  });
}

function feed(request: PageRequest, made: Date | undefined): Html {
  const action = `/monitors/${request.id}/feed`;
  if (made === undefined) {
    return html`<p>
        Feed readers show the newest 50 matches from a URL that needs no key. Anyone who has the URL can read them.
      </p>
      ${postButton(request, { action, label: 'Create a feed' })}`;
  }
  return html`<p>The feed URLs were created ${time(made)}. They were shown only once.</p>
    ${dangerousButton(request, {
      action,
      label: 'Create new URLs',
      summary: 'Replace the URLs',
      consequences: 'The old URLs stop working immediately.',
    })}
    ${dangerousButton(request, {
      action: `${action}/revoke`,
      label: 'Revoke the feed',
      summary: 'Revoke the feed',
      consequences: 'Its URLs stop working immediately. You can create new ones at any time.',
    })}`;
}

function addresses({ atom_url: atom, json_url: json }: FeedAddresses): Html {
  return html`<h2>Feed URLs</h2>
    <p>They are shown only once. Most feed readers accept the first one.</p>
    ${copyable('atom-address', atom, 'the URL of the Atom feed')}
    ${copyable('json-address', json, 'the URL of the JSON feed')}`;
}
