import type { Backfill } from '../../../../../schemas/api/monitors/backfill.ts';
import type { Monitor } from '../../../../../schemas/api/monitor.ts';
import { MATCHES_PER_CREDIT, MATCHES_PER_RUN } from '../../../../../shared/domain/backfill-room.ts';
import { html } from '../../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../../shared/html/html.ts';
import { problemsOf } from '../../call-api.ts';
import type { FieldProblems } from '../../call-api.ts';
import type { DashboardDeps } from '../../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../../page-route.ts';
import { doneNotice } from '../../parts/done-notice.ts';
import { checkbox, field, select } from '../../parts/field.ts';
import { postButton } from '../../parts/post-button.ts';
import { time } from '../../parts/time.ts';
import { monitorNavigation } from '../monitor-navigation.ts';

type Deps = Pick<DashboardDeps, 'callApi' | 'clock'>;

const HOUR_MS = 3_600_000;

/** How far back a backfill looks, in hours. */
export const BACKFILL_HOURS = [
  ['24', 'The last 24 hours'],
  ['72', 'The last 3 days'],
  ['168', 'The last 7 days'],
  ['720', 'The last 30 days'],
] as const;

/** Finding earlier matches, and how far that is. */
export function backfillPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/earlier', handle: (visit) => show(deps, visit, new Map()) },
    { method: 'post', path: '/monitors/:id/earlier', handle: (visit) => start(deps, visit) },
    { method: 'post', path: '/monitors/:id/earlier/cancel', handle: (visit) => cancel(deps, visit) },
  ];
}

async function show({ callApi }: Pick<Deps, 'callApi'>, visit: Visit, problems: FieldProblems): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const [shown, listed] = await Promise.all([
    callApi(visit, 'get', '/v1/monitors/:id', { id }),
    callApi(visit, 'get', '/v1/monitors/:id/backfill', { id }),
  ]);
  const { monitor } = shown.body as { monitor: Monitor };
  const { items } = listed.body as { items: Backfill[] };
  const running = items.find(({ ended_at: endedAt }) => endedAt === null);
  return {
    title: `Earlier matches of “${monitor.name}”`,
    status: problems.size > 0 ? 400 : 200,
    content: html`${monitorNavigation(visit, id, '/earlier')} ${doneNotice(visit, DONE)}
    ${running === undefined ? startForm(visit, monitor, problems) : underWay(visit, id, running)}
    ${items.length > 0 && runsTable(items)}`,
  };
}

const DONE: ReadonlyMap<string, string> = new Map([
  ['started', 'It waits for its turn. What it finds appears among the matches.'],
  ['cancelled', 'It is cancelled: nothing more is recorded or charged.'],
]);

function underWay(visit: Visit, id: string, run: Backfill): Html {
  const cancelling = postButton(visit, {
    action: `/monitors/${id}/earlier/cancel`,
    label: 'Cancel it',
    fields: { run: run.id },
  });
  return html`<p>
      Earlier matches are being found. <a href="${visit.path(`/monitors/${id}/earlier`)}">See how far it is</a>
    </p>
    ${run.state === 'running' && html`<div class="actions">${cancelling}<span class="note">What it found stays.</span></div>`}`;
}

function startForm(visit: Visit, { id, webhook_url: url }: Monitor, problems: FieldProblems): Html {
  const { form, account } = visit;
  const problemOf = (name: string) => problems.get(name);
  const whole = [...problems].filter(([name]) => name !== 'max_credits').map(([, message]) => message);
  return html`<p>
      Posts and comments of the last 30 days that match the rule as it is now become matches of this monitor, after the
      existing ones. What is a match already is passed over, free of charge.
    </p>
    <form method="post" action="${visit.path(`/monitors/${id}/earlier`)}" class="narrow">
      ${visit.csrfField} ${whole.map((message) => html`<p class="notice bad" role="alert">${message}</p>`)}
      ${select({ name: 'hours', label: 'How far back', value: form.text('hours') || '24', options: BACKFILL_HOURS })}
      ${field({
        name: 'max_credits',
        label: 'Credits that it may cost at most',
        value: form.text('max_credits') || '10',
        inputmode: 'numeric',
        hint: 'Empty: as many as there are. Another run can take the rest later.',
        problem: problemOf('max_credits'),
      })}
      ${
        url !== null &&
        checkbox({
          name: 'deliver',
          label: 'Also send them to the webhook, as many as the daily cap leaves today',
          checked: form.has('deliver'),
        })
      }
      <div class="actions">
        <button>Find earlier matches</button>
        <span class="note"
          >Costs 1 credit for each started ${MATCHES_PER_CREDIT} matches, of which a run has
          ${MATCHES_PER_RUN.toLocaleString('en')} at most. You have ${account.balance.toLocaleString('en')}.</span
        >
      </div>
    </form>`;
}

const STATES: Readonly<Record<Backfill['state'], string>> = {
  running: 'under way',
  cancelling: 'being cancelled',
  done: 'done',
  stopped_balance: 'stopped: no credits left',
  stopped_credits: 'stopped at the credits that it may cost',
  stopped_limit: `stopped at ${MATCHES_PER_RUN.toLocaleString('en')} matches`,
  cancelled: 'cancelled',
  failed: 'failed by an error of ours',
};

function runsTable(items: readonly Backfill[]): Html {
  const number = (value: number) => value.toLocaleString('en');
  const rows = items.map(
    (run) =>
      html`<tr>
        <th scope="row">${time(run.from)} to ${time(run.to)}</th>
        <td>${STATES[run.state]}${progressOf(run)}</td>
        <td>${number(run.matches)}${run.delivered > 0 && `, ${number(run.delivered)} sent`}</td>
        <td>${number(run.already_known)}</td>
        <td>${number(run.credits)}</td>
      </tr>`,
  );
  return html`<h2>Runs</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Runs">
      <table>
        <caption class="hidden">
          Runs, the newest first
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">State</th>
            <th scope="col">Matches</th>
            <th scope="col">Already known</th>
            <th scope="col">Credits</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function progressOf({ state, share }: Backfill): HtmlValue {
  if (state === 'done') return false;
  const percent = Math.floor(share * 100);
  return html`<br /><progress max="100" value="${percent}">${percent} %</progress> ${percent} %`;
}

async function start({ callApi, clock }: Deps, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  const { form } = visit;
  const hours = BACKFILL_HOURS.find(([value]) => value === form.text('hours'))?.[0] ?? '24';
  const most = form.text('max_credits');
  const body = {
    from: new Date(clock() - Number(hours) * HOUR_MS).toISOString(),
    deliver: form.has('deliver'),
    ...(most !== '' && { max_credits: Number(most) }),
  };
  try {
    await callApi(visit, 'post', '/v1/monitors/:id/backfill', { id, body });
    return { redirect: `/monitors/${id}/earlier?done=started` };
  } catch (error) {
    return show({ callApi }, visit, problemsOf(error));
  }
}

async function cancel({ callApi }: Pick<Deps, 'callApi'>, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  await callApi(visit, 'delete', '/v1/monitors/:id/backfill/:run_id', { id, partId: visit.form.text('run') });
  return { redirect: `/monitors/${id}/earlier?done=cancelled` };
}
