import type { Monitor, RuleSettingsResource } from '../../../../schemas/api/monitors.ts';
import type { RuleTerm } from '../../../../shared/matching/rule.ts';
import { MAX_GROUPS, MAX_TERMS } from '../../../../shared/matching/validate-rule.ts';
import { detectWebhookKind } from '../../../../shared/deliveries/rules/webhook-url.ts';
import { parseRuleQuery } from '../../../../shared/monitors/rules/parse-rule-query.ts';
import { printRuleQuery, refinementsResource } from '../../../../shared/monitors/rules/print-rule-query.ts';
import type { RuleSettings } from '../../../../shared/monitors/rules/print-rule-query.ts';
import { ApiError, invalidRequest } from '../../http/api-error.ts';
import type { Fault } from '../../http/api-error.ts';
import { faultSentence } from '../fault-sentences.ts';
import { joinedProblems, problemsOf } from '../page.ts';
import type { FieldProblems, FormFields } from '../page.ts';
import { ruleOf } from './monitor-frame.ts';

/** Fields whose text has one entry a line. */
const LISTS = ['keywords', 'exclude', 'subreddits', 'exclude_subreddits', 'authors', 'exclude_authors'] as const;
const OTHERS = ['name', 'webhook_url', 'webhook_kind', 'digest', 'backfill_hours'] as const;
const TEXTS = [...LISTS, 'terms', 'require', 'languages', ...OTHERS] as const;
const FLAGS = ['posts', 'comments', 'nsfw', 'thread_once', 'spike_webhook', 'notify'] as const;

/** What is in the form of a monitor, by the names of the API: as stored, or as it was typed. */
export type MonitorFormValues = Record<(typeof TEXTS)[number], string> &
  Record<(typeof FLAGS)[number], boolean> & { match_in: readonly string[] };

export const EMPTY_VALUES: MonitorFormValues = {
  ...(Object.fromEntries(TEXTS.map((name) => [name, ''])) as Record<(typeof TEXTS)[number], string>),
  posts: true,
  comments: true,
  nsfw: false,
  thread_once: false,
  spike_webhook: false,
  notify: false,
  match_in: [],
};

/** As a form sent them. A box that is not ticked is not sent. */
export function valuesOfForm(form: FormFields): MonitorFormValues {
  return {
    ...(Object.fromEntries(TEXTS.map((name) => [name, form.text(name)])) as Record<(typeof TEXTS)[number], string>),
    ...(Object.fromEntries(FLAGS.map((name) => [name, form.has(name)])) as Record<(typeof FLAGS)[number], boolean>),
    match_in: form.all('match_in'),
  };
}

export function valuesOfMonitor(monitor: Monitor): MonitorFormValues {
  const { name, webhook_url: url, webhook_kind: kind, include_posts: posts, include_comments: comments } = monitor;
  const rule = valuesOfRule({ ...monitor, posts, comments });
  const { digest = '', notify, spike_webhook = false } = monitor;
  // A detected kind is detected again: otherwise it would stay when only the URL is replaced, as by that of a channel.
  const isDetected = url === null || kind === detectWebhookKind(new URL(url));
  const options = { spike_webhook, digest, notify: notify !== undefined };
  return {
    ...EMPTY_VALUES,
    ...rule,
    ...options,
    name,
    webhook_url: url ?? '',
    webhook_kind: isDetected ? '' : (kind ?? ''),
  };
}

/** The fields of a rule; those that are absent have their usual value. */
export function valuesOfRule(
  settings: RuleSettingsResource,
): Omit<MonitorFormValues, (typeof OTHERS)[number] | 'spike_webhook' | 'notify'> {
  const { posts = true, comments = true, nsfw = false, thread_once: threadOnce = false, match_in: texts } = settings;
  const lists = LISTS.map((list) => [list, joined(settings[list] ?? [])] as const);
  const { terms = [], require = [] } = ruleOf(settings);
  return {
    ...(Object.fromEntries(lists) as Record<(typeof LISTS)[number], string>),
    terms: joined(terms.map((term) => printGroupLine([term]))),
    require: joined(require.map(printGroupLine)),
    languages: (settings.languages ?? []).join(' '),
    match_in: texts ?? [],
    posts,
    comments,
    nsfw,
    thread_once: threadOnce,
  };
}

/** In the API's form. Empty conditions are empty lists, so a change removes them. @throws ApiError invalid_request */
export function ruleOfValues(values: MonitorFormValues): Required<RuleSettingsResource> {
  const faults: Fault[] = [];
  const terms = readTermLines(linesOf(values.terms), faults);
  const groups = readGroupLines('require', linesOf(values.require), MAX_GROUPS, faults).map(({ group }) => group);
  if (faults.length > 0) throw invalidRequest(faults);
  const { terms: termResources = [], require = [] } = refinementsResource({ terms, require: groups }, false);
  const lists = LISTS.map((list) => [list, linesOf(values[list])] as const);
  return {
    ...(Object.fromEntries(lists) as Record<(typeof LISTS)[number], string[]>),
    terms: termResources,
    require,
    languages: values.languages.split(/[\s,;]+/).filter((code) => code !== ''),
    // The API checks the names.
    match_in: values.match_in as Required<RuleSettingsResource>['match_in'],
    posts: values.posts,
    comments: values.comments,
    nsfw: values.nsfw,
    thread_once: values.thread_once,
  };
}

/** Code units of a name that is made from a keyword. */
const NAME_LENGTH = 100;

/** The body of POST /v1/monitors. A monitor without a name is called by its first keyword. */
export function createBody(values: MonitorFormValues): object {
  const { name, webhook_url: url, webhook_kind: kind, backfill_hours: hours } = values;
  return {
    name: name || nameOf(values),
    ...ruleOfValues(values),
    ...(url !== '' && { webhook_url: url }),
    ...(kind !== '' && { webhook_kind: kind }),
    ...(values.spike_webhook && { spike_webhook: true }),
    ...(values.digest !== '' && { digest: values.digest }),
    ...(values.notify && { notify: 'email' }),
    ...(hours !== '' && { backfill_hours: Number(hours) }),
  };
}

function nameOf({ keywords, terms }: MonitorFormValues): string {
  const first = [...linesOf(keywords), ...linesOf(terms)].map((line) => line.replace(/[\p{C}"]/gu, '').trim());
  return cut(first.find((line) => line !== '') ?? 'New monitor', NAME_LENGTH);
}

/** Where matches go, for PATCH /v1/monitors/{id}. An empty URL removes the webhook. Without a kind it is detected. */
export function deliveryOfValues(values: MonitorFormValues): object {
  const { webhook_url: url, webhook_kind: kind, digest } = values;
  return {
    webhook_url: url,
    webhook_kind: url === '' || kind === '' ? null : kind,
    spike_webhook: values.spike_webhook,
    digest: digest === '' ? null : digest,
    notify: values.notify ? 'email' : null,
  };
}

/** One entry a line. A term that was stored with a line break matches the same with a space. */
function joined(entries: readonly string[]): string {
  return entries.map((entry) => entry.replace(/[\r\n]+/g, ' ')).join('\n');
}

function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The entry that a fault names by its number (`keywords[2]`), as it was typed. */
export function entryOf(values: MonitorFormValues, field: string): { name: string; entry: string | undefined } {
  const [, name = field, number] = /^(\w+)(?:\[(\d+)\])?/.exec(field) ?? [];
  const text = (values as Record<string, unknown>)[name];
  if (number === undefined || typeof text !== 'string') return { name, entry: undefined };
  const entries = name === 'languages' ? text.split(/[\s,;]+/) : linesOf(text);
  return { name, entry: entries[Number(number)] };
}

/** For each, its field is searched for the faulty entry. */
const MAX_SHOWN = 50;
/** Code units of an entry in a message. */
const QUOTED = 60;

/** The message for each faulty field, with the entries as typed. @throws what the person cannot fix */
export function monitorProblems(error: unknown, values: MonitorFormValues): FieldProblems {
  if (!(error instanceof ApiError) || error.faults.length === 0) return problemsOf(error);
  return joinedProblems(
    error.faults.slice(0, MAX_SHOWN).map(({ field, message }) => {
      const { name, entry } = entryOf(values, field.replace(/^settings\./, ''));
      return [name.replace(/^include_/, ''), faultSentence(name, message, entry && quoted(entry))];
    }),
  );
}

function quoted(entry: string): string {
  return entry.length > QUOTED ? `${cut(entry, QUOTED)}…` : entry;
}

/** At most so many code units, without half a character at the end. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

type TermGroup = readonly (string | RuleTerm)[];

/**
 * In forms, terms with conditions are written as in the textual form of rules, one a line: `title:hiring*`, `=Go`. A
 * line of a group has several with OR between them. Such a line is read as the second part of a query, `x AND (…)`,
 * because there the order of its terms is kept.
 */
const EMPTY_RULE: RuleSettings = {
  ...{ keywords: ['x'], exclude: [], subreddits: [] },
  ...{ posts: true, comments: true, nsfw: false, threadOnce: false },
};
const BEGIN = 'x AND ';

function printGroupLine(group: TermGroup): string {
  const text = printRuleQuery({ ...EMPTY_RULE, require: [group] }).slice(BEGIN.length);
  return group.length > 1 ? text.slice(1, -1) : text;
}

/** Messages name a line by its text. More lines than a rule may have are not read: a form has room for 50,000. */
function readGroupLines(
  field: string,
  lines: readonly string[],
  most: number,
  faults: Fault[],
): { number: number; group: TermGroup }[] {
  if (lines.length > most) {
    faults.push({ field, message: `must have at most ${most} lines` });
    return [];
  }
  return lines.flatMap((line, number) => {
    const parsed = parseRuleQuery(`${BEGIN}(${line})`);
    const { require = [], ...rest } = 'refusal' in parsed ? EMPTY_RULE : parsed.settings;
    const [group, ...more] = require;
    if (group !== undefined && more.length === 0 && printRuleQuery({ ...rest, require: [] }) === 'x') {
      return [{ number, group }];
    }
    const message = 'refusal' in parsed ? parsed.refusal.message : 'a line can only have terms with OR between them';
    faults.push({ field: `${field}[${number}]`, message });
    return [];
  });
}

function readTermLines(lines: readonly string[], faults: Fault[]): RuleTerm[] {
  return readGroupLines('terms', lines, MAX_TERMS, faults).flatMap(({ number, group: [term, ...more] }) => {
    if (more.length > 0) faults.push({ field: `terms[${number}]`, message: 'put each term on its own line' });
    return term === undefined ? [] : [typeof term === 'string' ? { text: term } : term];
  });
}
