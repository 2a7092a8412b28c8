import type { Rule, RuleTerm } from './rule.ts';
import type { TermOptions } from './terms/term-index.ts';
import { ALL_TEXTS, POST_TITLE, textBits, USUAL_TEXTS } from './text/item-texts.ts';

/** A term of a rule, with the conditions under which it counts. */
export interface WatchedTerm {
  /** As the owner wrote it. */
  readonly written: string;
  readonly options: TermOptions;
  /** A bit for each text in which it counts. */
  readonly texts: number;
}

/** The terms of a rule, without the excluded ones. */
export interface RuleTerms {
  /** The first group are keywords and terms, the others those of `require`. An item must have a term of each group. */
  readonly groups: readonly (readonly WatchedTerm[])[];
  /** A bit for each text that is searched for excluded terms. */
  readonly excludeTexts: number;
}

/** Whether the rule has nothing but keywords that count in the usual texts, and excluded terms. */
export function isPlainRule({ terms = [], require = [], matchIn }: Rule): boolean {
  return terms.length === 0 && require.length === 0 && textBits(matchIn) === USUAL_TEXTS;
}

export function ruleTerms({ keywords, terms = [], require = [], matchIn }: Rule): RuleTerms {
  const usual = textBits(matchIn);
  const groups = [[...keywords, ...terms], ...require].map((group) => group.map((term) => watchedTerm(term, usual)));
  const excludeTexts = groups.flat().reduce((bits, { texts }) => bits | (texts & POST_TITLE), USUAL_TEXTS);
  return { groups, excludeTexts };
}

const NO_OPTIONS: TermOptions = {};

/** An excluded term of a rule. */
export function excludedTerm(written: string): WatchedTerm {
  return { written, options: NO_OPTIONS, texts: ALL_TEXTS };
}

function watchedTerm(term: string | RuleTerm, usual: number): WatchedTerm {
  if (typeof term === 'string') return { written: term, options: NO_OPTIONS, texts: usual };
  const { text, prefix, caseSensitive } = term;
  return { written: text, options: { prefix, caseSensitive }, texts: textBits(term.in, usual) };
}

const PREFIX = 1;
const CASE_SENSITIVE = 2;

/** The term in one string, which `unpackTerm` reads. */
export function packTerm({ written, options }: WatchedTerm): string {
  const flags = (options.prefix === true ? PREFIX : 0) | (options.caseSensitive === true ? CASE_SENSITIVE : 0);
  return String.fromCharCode(flags) + written;
}

export function unpackTerm(packed: string): { written: string; options: TermOptions } {
  const flags = packed.charCodeAt(0);
  const options = { prefix: (flags & PREFIX) !== 0, caseSensitive: (flags & CASE_SENSITIVE) !== 0 };
  return { written: packed.slice(1), options };
}
