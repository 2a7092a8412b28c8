import type { MonitorTerm, RefinementFields } from '../../../schemas/api/monitors.ts';
import type { Rule, RuleRefinements, RuleTerm } from '../../matching/rule.ts';
import { PLAIN_TERM } from './query-reader.ts';

/** All of a monitor that its textual form says: everything but its name and its webhook. */
export interface RuleSettings extends Rule {
  /** At most one match a thread and day. */
  threadOnce: boolean;
}

/** A word that needs no quotes: nothing in it means anything in a query. */
const BARE_TERM = /^[\p{L}\p{N}#$@.][\p{L}\p{M}\p{N}.#$@+&/'’_-]*$/u;
const BARE_NAME = /^\w[\w-]*$/;
const OPERATORS: readonly string[] = ['AND', 'OR', 'NOT'];

/**
 * Prints a rule in its textual form, so that parsing it results in the same settings, in the same order. A rule has at
 * least one keyword or term.
 */
export function printRuleQuery(settings: RuleSettings): string {
  const { keywords, terms = [], require = [], exclude, matchIn = [], languages = [], nsfw, threadOnce } = settings;
  const alternatives = printGroup([...keywords, ...terms], require.length > 0);
  return [
    [alternatives, ...require.map((group) => printGroup(group, true))].join(' AND '),
    ...exclude.map((term) => `-${printText(term)}`),
    ...printFilter('in:', matchIn),
    ...printFilter('sub:', settings.subreddits),
    ...printFilter('sub:', settings.excludeSubreddits ?? [], '-'),
    ...printFilter('author:', settings.authors ?? []),
    ...printFilter('author:', settings.excludeAuthors ?? [], '-'),
    ...printFilter('lang:', languages),
    ...printKinds(settings),
    ...(nsfw ? ['nsfw:yes'] : []),
    ...(threadOnce ? ['once:thread'] : []),
  ].join(' ');
}

function printGroup(terms: readonly (string | RuleTerm)[], inParentheses: boolean): string {
  const alternatives = terms.map(printTerm).join(' OR ');
  return inParentheses && terms.length > 1 ? `(${alternatives})` : alternatives;
}

function printTerm(term: string | RuleTerm): string {
  if (typeof term === 'string') return printText(term);
  const { text, prefix = false, caseSensitive = false, in: texts } = term;
  const isPlain = texts === undefined && !prefix && !caseSensitive;
  const field = isPlain ? `${PLAIN_TERM}:` : texts === undefined ? '' : `${texts.join(',')}:`;
  return `${field}${caseSensitive ? '=' : ''}${printText(text)}${prefix ? '*' : ''}`;
}

function printText(text: string): string {
  return BARE_TERM.test(text) && !OPERATORS.includes(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function printFilter(field: string, values: readonly string[], sign = ''): string[] {
  if (values.length === 0) return [];
  return [field + values.map((value) => sign + (BARE_NAME.test(value) ? value : quoted(value))).join(',')];
}

function printKinds({ posts, comments }: RuleSettings): string[] {
  if (posts && comments) return [];
  if (posts) return ['is:post'];
  return comments ? ['is:comment'] : ['is:-post,-comment'];
}

export function refinementsResource(refinements: RuleRefinements | null, threadOnce: boolean): RefinementFields {
  const { terms, require, matchIn, excludeSubreddits, authors, excludeAuthors, languages } = refinements ?? {};
  return {
    ...(terms && { terms: terms.map(termResource) }),
    ...(require && {
      require: require.map((group) => group.map((term) => (typeof term === 'string' ? term : termResource(term)))),
    }),
    ...(matchIn && { match_in: [...matchIn] }),
    ...(excludeSubreddits && { exclude_subreddits: [...excludeSubreddits] }),
    ...(authors && { authors: [...authors] }),
    ...(excludeAuthors && { exclude_authors: [...excludeAuthors] }),
    ...(languages && { languages: [...languages] }),
    ...(threadOnce && { thread_once: true }),
  };
}

function termResource({ text, prefix, caseSensitive, in: texts }: RuleTerm): MonitorTerm {
  return {
    text,
    ...(prefix === true && { prefix }),
    ...(caseSensitive === true && { case_sensitive: caseSensitive }),
    ...(texts && { in: [...texts] }),
  };
}
