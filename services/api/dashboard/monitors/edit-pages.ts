import { randomText } from '../../../../shared/domain/identifiers.ts';
import type { Monitor, RuleWarning } from '../../../../schemas/api/monitor.ts';
import type { PreviewAnswer } from '../../../../schemas/api/monitors/preview.ts';
import type { ParsedQuery } from '../../../../schemas/api/monitors/monitor-query.ts';
import { ApiError } from '../../http/api-error.ts';
import { refuseFaults } from '../../http/invalid-request.ts';
import { checkNewRule } from '../../monitors/check-rule.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { FieldProblems } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { copyable } from '../parts/copyable.ts';
import { changeBody, createBody, EMPTY_VALUES, monitorFields } from './monitor-form-values.ts';
import { ruleOfValues, valuesOfForm, valuesOfMonitor, valuesOfRule } from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { costOfPeriod, monitorForm, monitorProblems, said } from './monitor-form.ts';
import type { MonitorForm } from './monitor-form.ts';
import { ruleOfMonitor } from './monitor-rule.ts';
import { ruleInWords } from './rule-in-words.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** Creating and changing monitors. */
export function editPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/new', handle: (visit) => Promise.resolve(newPage(visit, {})) },
    { method: 'post', path: '/monitors/new', handle: (visit) => create(deps, visit) },
    { method: 'get', path: '/monitors/:id/edit', handle: (visit) => edit(deps, visit) },
    { method: 'post', path: '/monitors/:id/edit', handle: (visit) => change(deps, visit) },
  ];
}

/** The state of a form after a button that only changes what the form shows. */
type Filled = Partial<Pick<MonitorForm, 'values' | 'problems' | 'query' | 'saidBack' | 'preview'>>;

function newPage(visit: Visit, filled: Filled): ShownPage {
  // Pressing the button twice sends the same key, so one monitor is created and charged.
  const key = visit.form.text('idempotency_key') || randomText(24);
  return {
    title: 'New monitor',
    status: statusOf(filled.problems),
    content: monitorForm(visit, {
      values: EMPTY_VALUES,
      problems: new Map(),
      ...filled,
      isNew: true,
      action: '/monitors/new',
      submit: 'Create the monitor',
      cost: costOfPeriod(visit),
      hidden: html`<input type="hidden" name="idempotency_key" value="${key}" />`,
    }),
  };
}

async function create({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const filled = await fill({ callApi }, visit);
  if (filled !== undefined) return newPage(visit, filled);
  const values = valuesOfForm(visit.form);
  try {
    const key = visit.form.text('idempotency_key');
    const request = { body: createBody(values), ...(key !== '' && { idempotencyKey: key }) };
    const { body } = await callApi(visit, 'post', '/v1/monitors', request);
    return createdPage(visit, body as CreatedBody);
  } catch (error) {
    return newPage(visit, { values, problems: monitorProblems(error, values) });
  }
}

interface CreatedBody {
  monitor: Monitor;
  webhook_secret: string;
  warnings?: RuleWarning[];
}

function createdPage({ path }: Visit, { monitor, webhook_secret: secret, warnings }: CreatedBody): ShownPage {
  const { id, name, webhook_url: url, webhook_kind: kind } = monitor;
  return {
    title: 'The monitor runs',
    content: html`<p class="notice good">“${name}” matches everything that enters from now on.</p>
      ${warningsNotice(warnings)} ${(url === null || kind === 'generic') && secretShownOnce(secret)}
      ${said(ruleInWords(ruleOfMonitor(monitor)))}
      <p class="actions">
        <a class="button" href="${path(`/monitors/${id}`)}">See its matches</a>
        ${url !== null && html`<a class="button quiet" href="${path(`/monitors/${id}/webhook`)}">Test its webhook</a>`}
      </p>`,
  };
}

/** A webhook secret, which no other page shows. */
export function secretShownOnce(secret: string): Html {
  return html`<h2>The secret that signs its webhooks</h2>
    <p>It is shown only now. Receivers verify signatures with it.</p>
    ${copyable('secret', secret, 'the secret')}`;
}

async function edit({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const monitor = await readMonitor({ callApi }, visit);
  return editPage(visit, monitor, { values: valuesOfMonitor(monitor), saidBack: wordsOf(monitor) });
}

async function change({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const monitor = await readMonitor({ callApi }, visit);
  const filled = await fill({ callApi }, visit);
  if (filled !== undefined) return editPage(visit, monitor, filled);
  const values = valuesOfForm(visit.form);
  try {
    const { body } = await callApi(visit, 'patch', '/v1/monitors/:id', { id: monitor.id, body: changeBody(values) });
    const { monitor: changed, warnings } = body as Omit<CreatedBody, 'webhook_secret'>;
    if (warnings === undefined) return { redirect: `/monitors/${monitor.id}?done=changed` };
    return editPage(visit, changed, { values: valuesOfMonitor(changed), saidBack: wordsOf(changed) }, warnings);
  } catch (error) {
    return editPage(visit, monitor, { values, problems: monitorProblems(error, values) });
  }
}

function editPage(visit: Visit, { id, name }: Monitor, filled: Filled, warnings?: RuleWarning[]): ShownPage {
  return {
    title: `Change “${name}”`,
    status: statusOf(filled.problems),
    content: html`<p><a href="${visit.path(`/monitors/${id}`)}">Back to its matches</a></p>
      ${warnings && html`<p class="notice good">The change is stored.</p>`} ${warningsNotice(warnings)}
      ${monitorForm(visit, {
        values: EMPTY_VALUES,
        problems: new Map(),
        ...filled,
        action: `/monitors/${id}/edit`,
        submit: 'Save the changes',
        cost: 'Changes cost nothing. What enters afterwards is matched by the new rule.',
      })}`,
  };
}

async function readMonitor({ callApi }: Deps, visit: Visit): Promise<Monitor> {
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id: visit.params.id ?? '' });
  return (body as { monitor: Monitor }).monitor;
}

const wordsOf = (monitor: Monitor): string[] => ruleInWords(ruleOfMonitor(monitor));

/** What the buttons show that store nothing: the rule in words, its preview, and the fields of a rule as text. */
async function fill({ callApi }: Deps, visit: Visit): Promise<Filled | undefined> {
  const { form } = visit;
  const added = form.text('add');
  const wanted = added === '' ? form.text('do') : 'try';
  if (wanted === 'try') return tryRule({ callApi }, visit, valuesWith(valuesOfForm(form), added));
  if (wanted !== 'say' && wanted !== 'fill') return undefined;
  const typed = { values: valuesOfForm(form), query: form.text('query') };
  try {
    if (wanted === 'say') {
      refuseFaults(checkNewRule(ruleOfValues(typed.values)).faults);
      return { ...typed, saidBack: wordsOfValues(typed.values) };
    }
    const { body } = await callApi(visit, 'post', '/v1/monitors/parse', { body: { query: typed.query } });
    const values = { ...typed.values, ...valuesOfRule((body as ParsedQuery).settings) };
    return { ...typed, values, saidBack: wordsOfValues(values) };
  } catch (error) {
    return { ...typed, problems: queryProblems(error) ?? monitorProblems(error, typed.values) };
  }
}

/** What the rule would have found. A faulty rule is shown as when it is stored. */
async function tryRule({ callApi }: Deps, visit: Visit, values: MonitorFormValues): Promise<Filled> {
  const typed = { values, query: visit.form.text('query') };
  try {
    const { body } = await callApi(visit, 'post', '/v1/monitors/preview', { body: { settings: ruleOfValues(values) } });
    return { ...typed, preview: body as PreviewAnswer };
  } catch (error) {
    return { ...typed, problems: previewProblems(error, values) };
  }
}

/** The form stays as it was typed when other previews are under way, or the archive is away. */
function previewProblems(error: unknown, values: MonitorFormValues): FieldProblems {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 503) return new Map([['', error.message]]);
  const faults = error.faults.map(({ field, message }) => ({ field: field.replace(/^settings\./, ''), message }));
  return monitorProblems(faults.length === 0 ? error : new ApiError(error.code, error.message, { faults }), values);
}

/** The values with a suggestion: the name of a list and what is added to it. */
function valuesWith(values: MonitorFormValues, added: string): MonitorFormValues {
  const [, list, entry] = /^(keywords|exclude|exclude_subreddits) (.+)$/.exec(added) ?? [];
  if (list === undefined || entry === undefined) return values;
  const name = list as 'keywords' | 'exclude' | 'exclude_subreddits';
  return { ...values, [name]: `${values[name].trimEnd()}\n${entry}`.trimStart() };
}

/** The refusal of a rule as text names its position and has a caret under it. */
function queryProblems(error: unknown): FieldProblems | undefined {
  if (!(error instanceof ApiError) || error.position === undefined) return undefined;
  return new Map([['query', error.message.replace(/^query: /, '')]]);
}

function wordsOfValues(values: MonitorFormValues): string[] {
  return ruleInWords(ruleOfMonitor(monitorFields(ruleOfValues(values))));
}

function warningsNotice(warnings: readonly RuleWarning[] | undefined): HtmlValue {
  return (
    warnings !== undefined &&
    html`<div class="notice bad">
      <p><strong>It may not do what you mean:</strong></p>
      <ul>
        ${warnings.map(({ message }) => html`<li>${message}</li>`)}
      </ul>
    </div>`
  );
}

const statusOf = (problems: FieldProblems | undefined): number => ((problems?.size ?? 0) > 0 ? 400 : 200);
