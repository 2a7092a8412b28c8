import type { Backfill } from '../../../../schemas/api/backfills.ts';
import type { Monitor } from '../../../../schemas/api/monitors.ts';
import { MATCHES_PER_CREDIT, MATCHES_PER_RUN } from '../../../../shared/domain/backfill-numbering.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { get, NO_PROBLEMS, post, problemsOf } from '../page.ts';
import type { FieldProblems, PageAnswer, PageRoute, ShownPage, Visit } from '../page.ts';
import { checkbox, field, notice, number, postButton, select, table, time, typed } from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

const HOUR_MS = 3_600_000;

/** How far back a backfill looks, in hours. */
export const BACKFILL_HOURS = [
  ['24', 'The last 24 hours'],
  ['72', 'The last 3 days'],
  ['168', 'The last 7 days'],
  ['720', 'The last 30 days'],
] as const;

/** Finding earlier matches, and how far that is. */
export const earlierPages: PageRoute[] = [
  get('/monitors/:id/earlier', (visit) => show(visit)),
  post('/monitors/:id/earlier', start),
  post('/monitors/:id/earlier/cancel', async (visit) => {
    await visit.call('delete', '/v1/monitors/:id/backfill/:run_id', { partId: visit.form.text('run') });
    return { redirect: `/monitors/${visit.id}/earlier?done=cancelled` };
  }),
];

async function show(visit: Visit, problems = NO_PROBLEMS): Promise<ShownPage> {
  const [monitor, list] = await Promise.all([readMonitor(visit), visit.read('/v1/monitors/:id/backfill')]);
  const { items } = list as { items: Backfill[] };
  const running = items.find(({ ended_at: endedAt }) => endedAt === null);
  return monitorPage(visit, '/earlier', {
    title: `Earlier matches of “${monitor.name}”`,
    problems,
    content: html`${running === undefined ? startForm(visit, monitor, problems) : underWay(visit, running)}
    ${items.length > 0 && runsTable(items)}`,
  });
}

function underWay(visit: Visit, run: Backfill): Html {
  const page = `/monitors/${visit.id}/earlier`;
  const cancel = postButton(visit, { action: `${page}/cancel`, label: 'Cancel it', fields: { run: run.id } });
  return html`<p>Earlier matches are being found. <a href="${visit.path(page)}">See how far it is</a></p>
    ${run.state === 'running' && html`<div class="actions">${cancel}<span class="note">What it found stays.</span></div>`}`;
}

function startForm(visit: Visit, { id, webhook_url: url }: Monitor, problems: FieldProblems): Html {
  const { form, account } = visit;
  const whole = [...problems].filter(([name]) => name !== 'max_credits').map(([, message]) => message);
  return html`<p>
      Posts and comments of the last 30 days that match the rule as it is now become matches of this monitor, after the
      existing ones. What is a match already is passed over, free of charge.
    </p>
    <form method="post" action="${visit.path(`/monitors/${id}/earlier`)}" class="narrow">
      ${visit.csrfField} ${whole.map((message) => notice('bad', message))}
      ${select({ name: 'hours', label: 'How far back', value: form.text('hours') || '24', options: BACKFILL_HOURS })}
      ${field({
        ...typed(form, problems, 'max_credits', '10'),
        label: 'Credits that it may cost at most',
        inputmode: 'numeric',
        hint: 'Empty: as many as there are. Another run can take the rest later.',
      })}
      ${
        url !== null &&
        checkbox('deliver', 'Also send them to the webhook, as many as the daily cap leaves today', form.has('deliver'))
      }
      <div class="actions">
        <button>Find earlier matches</button>
        <span class="note"
          >Costs 1 credit for each started ${MATCHES_PER_CREDIT} matches, of which a run has ${number(MATCHES_PER_RUN)}
          at most. You have ${number(account.balance)}.</span
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
  stopped_limit: `stopped at ${number(MATCHES_PER_RUN)} matches`,
  cancelled: 'cancelled',
  failed: 'failed by an error of ours',
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
    ${table('Runs, the newest first', ['Time', 'State', 'Matches', 'Already known', 'Credits'], rows)}`;
}

function progressOf({ state, share }: Backfill): HtmlValue {
  if (state === 'done') return false;
  const percent = Math.floor(share * 100);
  return html`<br /><progress max="100" value="${percent}">${percent} %</progress> ${percent} %`;
}

async function start(visit: Visit): Promise<PageAnswer> {
  const { form, now } = visit;
  const hours = BACKFILL_HOURS.find(([value]) => value === form.text('hours'))?.[0] ?? '24';
  const most = form.text('max_credits');
  const body = {
    from: new Date(now - Number(hours) * HOUR_MS).toISOString(),
    deliver: form.has('deliver'),
    ...(most !== '' && { max_credits: Number(most) }),
  };
  try {
    await visit.call('post', '/v1/monitors/:id/backfill', { body });
    return { redirect: `/monitors/${visit.id}/earlier?done=started` };
  } catch (error) {
    return show(visit, problemsOf(error));
  }
}
