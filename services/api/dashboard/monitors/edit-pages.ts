import type { Monitor, ParsedQuery, RuleWarning } from '../../../../schemas/api/monitors.ts';
import { parseEmailAddress } from '../../../../shared/accounts/rules/mailbox.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/billing/rules/plans.ts';
import { html } from '../../../../shared/http/html.ts';
import type { HtmlValue } from '../../../../shared/http/html.ts';
import { randomText } from '../../../../shared/rules/identifiers.ts';
import { ApiError } from '../../http/api-error.ts';
import { get, NO_PROBLEMS, post } from '../page.ts';
import type { FieldProblems, PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import { notice, number } from '../parts.ts';
import { EXAMPLE_RULES } from './example-rules.ts';
import {
  createBody,
  deliveryOfValues,
  EMPTY_VALUES,
  monitorProblems,
  ruleOfValues,
  valuesOfForm,
  valuesOfMonitor,
  valuesOfRule,
} from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { exampleLinks, monitorForm } from './monitor-form.ts';
import type { MonitorForm } from './monitor-form.ts';
import {
  monitorPage,
  readMonitor,
  ruleInWords,
  ruleOfMonitor,
  inWords,
  secretShownOnce,
  warningsNotice,
} from './monitor-frame.ts';
import { explainedRule, triedRule } from './try-page.ts';
import type { Trial } from './try-panel.ts';

export const editPages: PageRoute[] = [
  get('/monitors/new', beginning),
  post('/monitors/new', create),
  get('/monitors/:id/edit', async (request) => {
    const monitor = await readMonitor(request);
    return editPage(request, monitor, { values: valuesOfMonitor(monitor), trial: { words: wordsOf(monitor) } });
  }),
  post('/monitors/:id/edit', change),
];

/** The state of a form after a button that only changes what the form shows. */
type Filled = Partial<Pick<MonitorForm, 'values' | 'problems' | 'query' | 'trial'>>;

/** Who has no monitor yet has no webhook either, and would find the first match only by coming back here. */
async function isFirstMonitor(request: PageRequest): Promise<boolean> {
  const { used } = (await request.read('/v1/monitors')) as { used: number };
  return used === 0 && parseEmailAddress(request.account.email) !== undefined;
}

/** An empty form, or one with the example that the address names. */
async function beginning(request: PageRequest): Promise<ShownPage> {
  const name = request.query.text('example');
  const chosen = Object.hasOwn(EXAMPLE_RULES, name) ? EXAMPLE_RULES[name] : undefined;
  const values = { ...(chosen?.values ?? EMPTY_VALUES), notify: await isFirstMonitor(request) };
  const filled = { values, ...(chosen && { trial: explainedRule(values) }) };
  const examples = html`${exampleLinks(request, name)} ${chosen && notice('', chosen.change)}`;
  return newPage(request, filled, examples);
}

function newPage(request: PageRequest, filled: Filled, examples?: HtmlValue): ShownPage {
  // Pressing the button twice sends the same key, so one monitor is created and charged.
  const key = request.form.text('idempotency_key') || randomText(24);
  return {
    title: 'New monitor',
    status: statusOf(filled.problems),
    content: html`${examples}
    ${monitorForm(request, {
      values: EMPTY_VALUES,
      problems: NO_PROBLEMS,
      ...filled,
      isNew: true,
      action: '/monitors/new',
      submit: 'Create the monitor',
      cost: `Costs ${MONITOR_PERIOD_CREDITS} credits now and ${MONITOR_PERIOD_CREDITS} for every further 24 hours. You have ${number(request.account.balance)}.`,
      hidden: html`<input type="hidden" name="idempotency_key" value="${key}" />`,
    })}`,
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
  const page = path(`/monitors/${id}`);
  return {
    title: 'The monitor is running',
    content: html`${notice('good', `“${name}” checks every new post and comment from now on.`)}
      <p class="actions">
        <a class="button" href="${page}">View its matches</a>
        <a class="button quiet" href="${page}/webhook">${url === null ? 'Add a webhook' : 'Test its webhook'}</a>
      </p>
      ${warningsNotice(warnings)} ${url !== null && kind === 'generic' && secretShownOnce(secret)}
      ${inWords(ruleInWords(ruleOfMonitor(monitor)))}
      ${
        url === null &&
        html`<details>
          <summary>The secret of its future webhook</summary>
          ${secretShownOnce(secret)}
        </details>`
      }`,
  };
}

async function change(request: PageRequest): Promise<PageResponse> {
  const monitor = await readMonitor(request);
  const filled = await fill(request);
  if (filled !== undefined) return editPage(request, monitor, filled);
  const values = valuesOfForm(request.form);
  try {
    // A form that was opened before an update of the service also says where matches go.
    const delivery = request.form.has('webhook_url') && deliveryOfValues(values);
    const wanted = { name: values.name, ...ruleOfValues(values), ...delivery };
    const { body } = await request.call('patch', '/v1/monitors/:id', { body: wanted });
    const { monitor: changed, warnings } = body as Omit<CreatedBody, 'webhook_secret'>;
    if (warnings === undefined) return { redirect: `/monitors/${monitor.id}?done=changed` };
    return await editPage(
      request,
      changed,
      { values: valuesOfMonitor(changed), trial: { words: wordsOf(changed) } },
      warnings,
    );
  } catch (error) {
    return editPage(request, monitor, { values, problems: monitorProblems(error, values) });
  }
}

async function editPage(request: PageRequest, monitor: Monitor, filled: Filled, warnings?: RuleWarning[]) {
  const { id, name } = monitor;
  const { items: mutes } = (await request.read('/v1/monitors/:id/mutes')) as { items: object[] };
  return monitorPage(request, '/edit', {
    monitor,
    title: `Change “${name}”`,
    problems: filled.problems ?? NO_PROBLEMS,
    content: html`${warnings && notice('good', 'The change was saved.')} ${warningsNotice(warnings)}
    ${monitorForm(request, {
      values: EMPTY_VALUES,
      problems: NO_PROBLEMS,
      ...filled,
      trial: { ...filled.trial, hasMutes: mutes.length > 0 },
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
  const query = form.text('query');
  const values = valuesWith(valuesOfForm(form), added);
  if (wanted === 'try') return { values, query, ...withProblems(await triedRule(request, values)) };
  if (wanted === 'say') return { values, query, ...withProblems(explainedRule(values)) };
  return wanted === 'fill' ? filledFromText(request, values, query) : undefined;
}

/** The panel lists what is wrong with a rule, and the form says it beside the fields. */
function withProblems(trial: Trial): Filled {
  return { trial, ...(trial.problems !== undefined && { problems: trial.problems }) };
}

async function filledFromText(request: PageRequest, typed: MonitorFormValues, query: string): Promise<Filled> {
  try {
    const { body } = await request.call('post', '/v1/monitors/parse', { body: { query } });
    const values = { ...typed, ...valuesOfRule((body as ParsedQuery).settings) };
    return { query, values, trial: explainedRule(values) };
  } catch (error) {
    // The refusal of a rule as text names its position and has a caret under it.
    const isOfText = error instanceof ApiError && error.position !== undefined;
    const problems = isOfText ? new Map([['query', error.message.replace(/^query: /, '')]]) : undefined;
    return { query, values: typed, problems: problems ?? monitorProblems(error, typed) };
  }
}

/** The values with a suggestion: the name of a list and what is added to it. */
function valuesWith(values: MonitorFormValues, added: string): MonitorFormValues {
  const [, list, entry] = /^(keywords|exclude|exclude_subreddits) (.+)$/.exec(added) ?? [];
  if (list === undefined || entry === undefined) return values;
  const name = list as 'keywords' | 'exclude' | 'exclude_subreddits';
  return { ...values, [name]: `${values[name].trimEnd()}\n${entry}`.trimStart() };
}

const statusOf = (problems: FieldProblems | undefined): number => ((problems?.size ?? 0) > 0 ? 400 : 200);
