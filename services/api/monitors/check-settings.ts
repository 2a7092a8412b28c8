import type {
  MonitorTerm,
  RefinementChanges,
  RuleSettingsResource,
  UnsavedSettings,
  WebhookKind,
} from '../../../schemas/api/monitors.ts';
import { ITEM_LANGUAGES, UNDECIDED_LANGUAGE } from '../../../schemas/messages/forum-item.ts';
import { parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import { detectWebhookKind, fitsWebhookKind, webhookUrlFault } from '../../../shared/deliveries/rules/webhook-url.ts';
import { checkPublicUrl } from '../../../shared/http/public-address.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Rule, RuleRefinements } from '../../../shared/matching/rule.ts';
import {
  validateLanguages,
  validateNames,
  validateRequire,
  validateRuleTerms,
  validateSearchedTexts,
  validateTermCount,
  validateTerms,
} from '../../../shared/matching/validate-rule.ts';
import type { GivenTerm } from '../../../shared/matching/validate-rule.ts';
import { ruleOf } from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings } from '../../../shared/monitors/monitors.ts';
import { describeRefusal, parseRuleQuery } from '../../../shared/monitors/rules/parse-rule-query.ts';
import type { QueryRefusal } from '../../../shared/monitors/rules/parse-rule-query.ts';
import { refinementsResource } from '../../../shared/monitors/rules/print-rule-query.ts';
import type { RuleSettings } from '../../../shared/monitors/rules/print-rule-query.ts';
import { ApiError, refuseFaults } from '../http/api-error.ts';
import type { Fault } from '../http/api-error.ts';
import type { RouteRequest, RouteResponse } from '../http/route.ts';

/** The lists of a rule as sent by a client; PATCH may omit any. */
interface RuleLists {
  keywords?: string[] | undefined;
  exclude?: string[] | undefined;
  subreddits?: string[] | undefined;
}

/** The lists in the form that is stored, omitted where they were absent. */
export type CheckedRule = RuleLists & { refinements: RefinementsChange };

/**
 * Checks the lists of a rule one by one. Their limits together are checked on the whole rule (`validateTermCount`).
 *
 * @param mayBeTerms whether `terms` may stand for the keywords, so that the rule may be without keywords
 */
export function checkRule(
  given: RuleLists & RefinementChanges,
  mayBeTerms: boolean,
): { rule: CheckedRule; faults: Fault[] } {
  const keywords = given.keywords && validateTerms('keywords', given.keywords, { mayBeEmpty: mayBeTerms });
  const exclude = given.exclude && validateTerms('exclude', given.exclude);
  const subreddits = given.subreddits && validateNames('subreddits', given.subreddits);
  const refinements = checkRefinements(given);
  return {
    rule: {
      keywords: keywords?.terms,
      exclude: exclude?.terms,
      subreddits: subreddits?.names,
      refinements: refinements.change,
    },
    faults: [keywords, exclude, subreddits, refinements].flatMap((checked) => checked?.faults ?? []),
  };
}

/** The lists of a new rule in the form that is stored. */
interface NewRule {
  keywords: string[];
  exclude: string[];
  subreddits: string[];
  refinements: RuleRefinements | null;
}

/** Checks the lists of a new rule, one by one and together. If there are faults, the rule must not be stored. */
export function checkNewRule(given: RuleLists & RefinementChanges): { rule: NewRule; faults: Fault[] } {
  const { rule, faults } = checkRule(given, given.terms !== undefined);
  const { keywords = [], exclude = [], subreddits = [] } = rule;
  const refinements = changedRefinements(null, rule.refinements);
  if (faults.length === 0) faults.push(...validateTermCount(keywords, refinements?.terms ?? []));
  return { rule: { keywords, exclude, subreddits, refinements }, faults };
}

/** Conditions to be changed: null removes one, and those that are absent stay as they are. */
export type RefinementsChange = { [Name in keyof RuleRefinements]?: RuleRefinements[Name] | null };

const LANGUAGES: ReadonlySet<string> = new Set([...ITEM_LANGUAGES, UNDECIDED_LANGUAGE]);

/** The conditions of a request in the form that is stored, and what is wrong with them. */
function checkRefinements(given: RefinementChanges): { change: RefinementsChange; faults: Fault[] } {
  const terms = checkedList(given.terms, (list) => validateRuleTerms(list.map(givenTerm)));
  const require = checkedList(given.require, (groups) =>
    validateRequire(groups.map((group) => group.map((term) => (typeof term === 'string' ? term : givenTerm(term))))),
  );
  const matchIn = checkedList(given.match_in, (texts) => validateSearchedTexts('match_in', texts));
  const excludeSubreddits = checkedList(given.exclude_subreddits, (names) =>
    validateNames('exclude_subreddits', names),
  );
  const authors = checkedList(given.authors, (names) => validateNames('authors', names));
  const excludeAuthors = checkedList(given.exclude_authors, (names) => validateNames('exclude_authors', names));
  const languages = checkedList(given.languages, (codes) => validateLanguages(codes, LANGUAGES));
  const lists = [terms, require, matchIn, excludeSubreddits, authors, excludeAuthors, languages];
  return {
    change: {
      ...(terms !== undefined && { terms: terms && terms.terms }),
      ...(require !== undefined && { require: require && require.require }),
      ...(matchIn !== undefined && { matchIn: matchIn?.texts ?? null }),
      ...(excludeSubreddits !== undefined && { excludeSubreddits: excludeSubreddits && excludeSubreddits.names }),
      ...(authors !== undefined && { authors: authors && authors.names }),
      ...(excludeAuthors !== undefined && { excludeAuthors: excludeAuthors && excludeAuthors.names }),
      ...(languages !== undefined && { languages: languages && languages.languages }),
    },
    faults: lists.flatMap((list) => list?.faults ?? []),
  };
}

/** The conditions after a change; null when none is left. */
export function changedRefinements(current: RuleRefinements | null, change: RefinementsChange): RuleRefinements | null {
  const kept = Object.entries({ ...current, ...change }).filter(([, condition]) => condition !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** undefined: the request does not name the list; null: it removes it. */
function checkedList<Given, Checked>(
  given: readonly Given[] | null | undefined,
  check: (given: readonly Given[]) => Checked,
): Checked | null | undefined {
  if (given === undefined) return undefined;
  return given === null || given.length === 0 ? null : check(given);
}

function givenTerm({ case_sensitive: caseSensitive, ...term }: MonitorTerm): GivenTerm {
  return { ...term, caseSensitive };
}

/** Spikes are sent to the webhook only, so asking for them without one is a mistake of the client. */
export function spikeFaults(isAskedFor: boolean, { webhookUrl }: Pick<MonitorSettings, 'webhookUrl'>): Fault[] {
  return isAskedFor && webhookUrl === null ? [{ field: 'spike_webhook', message: 'needs a webhook_url' }] : [];
}

/**
 * A digest goes to the webhook or, without one, to the address of the account, as notify does. The demo account has no
 * address that mail can be sent to, so its matches would be sent nowhere.
 */
export function mailFaults({ digest, notify, webhookUrl }: MonitorSettings, email: string): Fault[] {
  if (parseEmailAddress(email) !== undefined) return [];
  const why = 'no mail can be sent to the address of the account';
  return [
    ...(digest !== null && webhookUrl === null
      ? [{ field: 'digest', message: `needs a webhook_url, because ${why}` }]
      : []),
    ...(notify === null ? [] : [{ field: 'notify', message: `must not be set, because ${why}` }]),
  ];
}

/**
 * The rule of settings that are not stored, with every check that the same fields get in POST /v1/monitors. Name and
 * webhook are ignored.
 *
 * @throws ApiError invalid_request; the fields are named below `settings`
 */
export function unsavedRule(settings: UnsavedSettings): Rule {
  const { rule, faults } = checkNewRule(settings);
  refuseFaults(faults.map(({ field, message }) => ({ field: `settings.${field}`, message })));
  const { posts, comments, nsfw, thread_once: threadOnce } = settings;
  return ruleOf({
    ...rule,
    posts,
    comments,
    nsfw,
    threadOnce: threadOnce ?? false,
    webhookUrl: null,
    webhookKind: null,
  });
}

/** Where the monitor's matches are sent; both null without a webhook. */
export interface Webhook {
  webhookUrl: string | null;
  webhookKind: WebhookKind | null;
}

/**
 * The webhook fields of a request: absent keeps the value, a null or empty URL removes the webhook, a null kind means
 * detection.
 */
export interface WebhookChange {
  webhook_url?: string | null | undefined;
  webhook_kind?: WebhookKind | null | undefined;
}

/** Returns what is wrong with a URL from a client as it is written. */
export function writtenUrlFaults(url: string | null | undefined, { allowPrivate }: PublicUrlOptions): Fault[] {
  if (url === undefined || url === null || url === '') return [];
  const fault = webhookUrlFault(url, allowPrivate);
  return fault === undefined ? [] : [{ field: 'webhook_url', message: fault }];
}

/** Returns what is wrong with a URL from a client. May resolve the host, so call it outside of transactions. */
export async function checkWebhookUrl(url: string | null | undefined, options: PublicUrlOptions): Promise<Fault[]> {
  if (url === undefined || url === null || url === '') return [];
  const faults = writtenUrlFaults(url, options);
  if (faults.length > 0) return faults;
  const checked = await checkPublicUrl(url, options);
  if (checked.ok) return [];
  if (checked.reason === 'port')
    return [{ field: 'webhook_url', message: 'must not use a port that is reserved for another protocol' }];
  // The message does not name the addresses found: it must not reveal the answers of an internal name server.
  return [{ field: 'webhook_url', message: 'must resolve to a public Internet address' }];
}

/**
 * The webhook after a change, or what is wrong with the change. Without a kind, a new URL gets a detected kind and an
 * unchanged URL keeps its kind.
 */
export function changedWebhook(current: Webhook, change: WebhookChange): { webhook: Webhook } | { fault: Fault } {
  const url = change.webhook_url === undefined ? current.webhookUrl : change.webhook_url || null;
  if (url === null) {
    return change.webhook_kind
      ? { fault: { field: 'webhook_kind', message: 'needs a webhook_url' } }
      : { webhook: { webhookUrl: null, webhookKind: null } };
  }
  const keeps = change.webhook_kind === undefined && url === current.webhookUrl;
  const kind = keeps ? current.webhookKind : change.webhook_kind;
  const parsed = new URL(url);
  if (kind && !fitsWebhookKind(parsed, kind)) {
    return {
      fault: { field: 'webhook_kind', message: `the URL is a ${detectWebhookKind(parsed)} webhook, not ${kind}` },
    };
  }
  return { webhook: { webhookUrl: url, webhookKind: kind ?? detectWebhookKind(parsed) } };
}

/**
 * Reads a rule in its textual form, with every check that the same fields get in POST /v1/monitors. The settings are as
 * they are stored. Of several faults it reports the first in the text. Pure.
 */
export function parseQuery(query: string): { settings: RuleSettings } | { refusal: QueryRefusal } {
  const parsed = parseRuleQuery(query);
  if ('refusal' in parsed) return parsed;
  const { posts, comments, nsfw, threadOnce } = parsed.settings;
  const { rule, faults } = checkNewRule(ruleSettingsResource(parsed.settings));
  const [refusal] = faults
    .map(({ field, message }) => ({ position: parsed.positionOf(field), message: `${subjectOf(field)} ${message}` }))
    .sort((a, b) => a.position - b.position);
  if (refusal !== undefined) return { refusal };
  const { refinements, ...lists } = rule;
  return { settings: { ...lists, posts, comments, nsfw, ...refinements, threadOnce } };
}

/** What the message of a fault is about. The caret points at a single term or name. */
function subjectOf(field: string): string {
  if (/^require\[\d+\]$/.test(field)) return 'this group';
  return field.includes('[') ? 'this' : `"${field}"`;
}

/** Handles POST /v1/monitors/parse. */
export async function parse({ body: { query } }: RouteRequest<unknown, { query: string }>): Promise<RouteResponse> {
  const parsed = parseQuery(query);
  if ('refusal' in parsed) {
    const { refusal } = parsed;
    throw new ApiError('invalid_request', `query: ${describeRefusal(query, refusal)}`, { position: refusal.position });
  }
  return Promise.resolve({ status: 200, body: { settings: ruleSettingsResource(parsed.settings) } });
}

/** The fields with which POST /v1/monitors makes this rule; those with their usual value are absent. */
export function ruleSettingsResource(settings: RuleSettings): RuleSettingsResource {
  const { keywords, exclude, subreddits, posts, comments, nsfw, threadOnce } = settings;
  return {
    ...(keywords.length > 0 && { keywords: [...keywords] }),
    ...(exclude.length > 0 && { exclude: [...exclude] }),
    ...(subreddits.length > 0 && { subreddits: [...subreddits] }),
    ...(!posts && { posts }),
    ...(!comments && { comments }),
    ...(nsfw && { nsfw }),
    ...refinementsResource(settings, threadOnce),
  };
}
