import type { Monitor, NotifyStopped, ParsedQuery, RuleWarning } from '../../../../schemas/api/monitors.ts';
import type { PreviewAnswer } from '../../../../schemas/api/rules.ts';
import { parseEmailAddress } from '../../../../shared/accounts/rules/mailbox.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/billing/rules/plans.ts';
import { html } from '../../../../shared/http/html.ts';
import { randomText } from '../../../../shared/rules/identifiers.ts';
import { ApiError, refuseFaults } from '../../http/api-error.ts';
import { checkNewRule } from '../../monitors/check-settings.ts';
import { get, joinedProblems, NO_PROBLEMS, post, problemsOf } from '../page.ts';
import type { FieldProblems, PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import { notice, number } from '../parts.ts';
import {
  changeBody,
  createBody,
  EMPTY_VALUES,
  entryOf,
  ruleOfValues,
  valuesOfForm,
  valuesOfMonitor,
  valuesOfRule,
} from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { monitorForm } from './monitor-form.ts';
import type { MonitorForm } from './monitor-form.ts';
import {
  monitorPage,
  readMonitor,
  ruleInWords,
  ruleOf,
  ruleOfMonitor,
  inWords,
  secretShownOnce,
  warningsNotice,
} from './monitor-frame.ts';

export const editPages: PageRoute[] = [
  get('/monitors/new', async (request) => newPage(request, { values: await newValues(request) })),
  post('/monitors/new', create),
  get('/monitors/:id/edit', async (request) => {
    const monitor = await readMonitor(request);
    return editPage(request, monitor, { values: valuesOfMonitor(monitor), ruleWords: wordsOf(monitor) });
  }),
  post('/monitors/:id/edit', change),
];

/** The state of a form after a button that only changes what the form shows. */
type Filled = Partial<Pick<MonitorForm, 'values' | 'problems' | 'query' | 'ruleWords' | 'preview'>>;

/** Who has no monitor yet has no webhook either, and would find the first match only by coming back here. */
async function newValues(request: PageRequest): Promise<MonitorFormValues> {
  const { used } = (await request.read('/v1/monitors')) as { used: number };
  return { ...EMPTY_VALUES, notify: used === 0 && parseEmailAddress(request.account.email) !== undefined };
}

function newPage(request: PageRequest, filled: Filled): ShownPage {
  // Pressing the button twice sends the same key, so one monitor is created and charged.
  const key = request.form.text('idempotency_key') || randomText(24);
  return {
    title: 'New monitor',
    status: statusOf(filled.problems),
    content: monitorForm(request, {
      values: EMPTY_VALUES,
      problems: NO_PROBLEMS,
      ...filled,
      isNew: true,
      action: '/monitors/new',
      submit: 'Create the monitor',
      cost: `Costs ${MONITOR_PERIOD_CREDITS} credits now and ${MONITOR_PERIOD_CREDITS} for every further 24 hours. You have ${number(request.account.balance)}.`,
      hidden: html`<input type="hidden" name="idempotency_key" value="${key}" />`,
    }),
  };
}

async function create(request: PageRequest): Promise<PageResponse> {
  const filled = await fill(request);
  if (filled !== undefined) return newPage(request, filled);
  const values = valuesOfForm(request.form);
  try {
    const key = request.form.text('idempotency_key');
    const wanted = { body: createBody(values), ...(key !== '' && { idempotencyKey: key }) };
    const { body } = await request.call('post', '/v1/monitors', wanted);
    return createdPage(request, body as CreatedBody);
  } catch (error) {
    return newPage(request, { values, problems: monitorProblems(error, values) });
  }
}

interface CreatedBody {
  monitor: Monitor;
  webhook_secret: string;
  warnings?: RuleWarning[];
}

function createdPage({ path }: PageRequest, { monitor, webhook_secret: secret, warnings }: CreatedBody): ShownPage {
  const { id, name, webhook_url: url, webhook_kind: kind } = monitor;
  return {
    title: 'The monitor is running',
    content: html`${notice('good', `“${name}” checks every new post and comment from now on.`)}
      ${warningsNotice(warnings)} ${(url === null || kind === 'generic') && secretShownOnce(secret)}
      ${inWords(ruleInWords(ruleOfMonitor(monitor)))}
      <p class="actions">
        <a class="button" href="${path(`/monitors/${id}`)}">View its matches</a>
        ${url !== null && html`<a class="button quiet" href="${path(`/monitors/${id}/webhook`)}">Test its webhook</a>`}
      </p>`,
  };
}

async function change(request: PageRequest): Promise<PageResponse> {
  const monitor = await readMonitor(request);
  const filled = await fill(request);
  if (filled !== undefined) return editPage(request, monitor, filled);
  const values = valuesOfForm(request.form);
  try {
    const { body } = await request.call('patch', '/v1/monitors/:id', { body: changeBody(values) });
    const { monitor: changed, warnings } = body as Omit<CreatedBody, 'webhook_secret'>;
    if (warnings === undefined) return { redirect: `/monitors/${monitor.id}?done=changed` };
    return editPage(request, changed, { values: valuesOfMonitor(changed), ruleWords: wordsOf(changed) }, warnings);
  } catch (error) {
    return editPage(request, monitor, { values, problems: monitorProblems(error, values) });
  }
}

const MAILS_STOPPED: Readonly<Record<NotifyStopped, string>> = {
  bounced: 'Matches are no longer mailed: the mail server refused the address of your account.',
  unsubscribed: 'Matches are no longer mailed: the link in one of the mails was used.',
};

function editPage(request: PageRequest, monitor: Monitor, filled: Filled, warnings?: RuleWarning[]): ShownPage {
  const { id, name, notify_stopped: stopped } = monitor;
  return monitorPage(request, '/edit', {
    monitor,
    title: `Change “${name}”`,
    problems: filled.problems ?? NO_PROBLEMS,
    content: html`${warnings && notice('good', 'The change was saved.')} ${warningsNotice(warnings)}
    ${stopped !== undefined && notice('bad', MAILS_STOPPED[stopped])}
    ${monitorForm(request, {
      values: EMPTY_VALUES,
      problems: NO_PROBLEMS,
      ...filled,
      action: `/monitors/${id}/edit`,
      submit: 'Save the changes',
      cost: 'Changes are free. The new rule applies to new posts and comments.',
    })}`,
  });
}

const wordsOf = (monitor: Monitor): string[] => ruleInWords(ruleOfMonitor(monitor));

/** What the buttons that store nothing show: the rule in words, its preview, and the fields of a rule as text. */
async function fill(request: PageRequest): Promise<Filled | undefined> {
  const { form } = request;
  const added = form.text('add');
  const wanted = added === '' ? form.text('do') : 'try';
  if (wanted === 'try') return tryRule(request, valuesWith(valuesOfForm(form), added));
  if (wanted !== 'say' && wanted !== 'fill') return undefined;
  const typed = { values: valuesOfForm(form), query: form.text('query') };
  try {
    if (wanted === 'say') {
      refuseFaults(checkNewRule(ruleOfValues(typed.values)).faults);
      return { ...typed, ruleWords: wordsOfValues(typed.values) };
    }
    const { body } = await request.call('post', '/v1/monitors/parse', { body: { query: typed.query } });
    const values = { ...typed.values, ...valuesOfRule((body as ParsedQuery).settings) };
    return { ...typed, values, ruleWords: wordsOfValues(values) };
  } catch (error) {
    // The refusal of a rule as text names its position and has a caret under it.
    const isOfText = error instanceof ApiError && error.position !== undefined;
    const problems = isOfText ? new Map([['query', error.message.replace(/^query: /, '')]]) : undefined;
    return { ...typed, problems: problems ?? monitorProblems(error, typed.values) };
  }
}

async function tryRule(request: PageRequest, values: MonitorFormValues): Promise<Filled> {
  const typed = { values, query: request.form.text('query') };
  try {
    const { body } = await request.call('post', '/v1/monitors/preview', { body: { settings: ruleOfValues(values) } });
    return { ...typed, preview: body as PreviewAnswer };
  } catch (error) {
    // The form stays as it was typed when other previews are under way, or the archive is unavailable.
    const isBusy = error instanceof ApiError && error.status === 503;
    return { ...typed, problems: isBusy ? new Map([['', error.message]]) : monitorProblems(error, values) };
  }
}

/** The values with a suggestion: the name of a list and what is added to it. */
function valuesWith(values: MonitorFormValues, added: string): MonitorFormValues {
  const [, list, entry] = /^(keywords|exclude|exclude_subreddits) (.+)$/.exec(added) ?? [];
  if (list === undefined || entry === undefined) return values;
  const name = list as 'keywords' | 'exclude' | 'exclude_subreddits';
  return { ...values, [name]: `${values[name].trimEnd()}\n${entry}`.trimStart() };
}

function wordsOfValues(values: MonitorFormValues): string[] {
  return ruleInWords(ruleOf(ruleOfValues(values)));
}

/** For each, its field is searched for the faulty entry. */
const MAX_SHOWN = 50;

/** The message for each faulty field, with the entries as typed. @throws what the person cannot fix */
function monitorProblems(error: unknown, values: MonitorFormValues): FieldProblems {
  if (!(error instanceof ApiError) || error.faults.length === 0) return problemsOf(error);
  return joinedProblems(
    error.faults.slice(0, MAX_SHOWN).map(({ field, message }) => {
      const { name, entry } = entryOf(values, field.replace(/^settings\./, ''));
      return [name.replace(/^include_/, ''), entry === undefined ? message : `“${entry}” ${message}`];
    }),
  );
}

const statusOf = (problems: FieldProblems | undefined): number => ((problems?.size ?? 0) > 0 ? 400 : 200);
