import type { Rule, RuleTerm } from './rule.ts';
import type { TermIndex, TermOptions } from './terms/term-index.ts';
import { ALL_TEXTS, POST_TITLE, textBits, USUAL_TEXTS } from './rule.ts';

export interface WatchedTerm {
  /** As the owner wrote it. */
  readonly written: string;
  readonly options: TermOptions;
  /** A bit for each text in which it counts. */
  readonly texts: number;
}

/**
 * The terms of a rule, without the excluded ones. `groups`: keywords and terms, then the groups of `require`; an item
 * must have a term of each. `excludeTexts`: a bit for each text that is searched for excluded terms.
 */
export function ruleTerms({ keywords, terms = [], require = [], matchIn }: Rule): {
  groups: WatchedTerm[][];
  excludeTexts: number;
} {
  const usual = textBits(matchIn);
  const groups = [[...keywords, ...terms], ...require].map((group) => group.map((term) => watchedTerm(term, usual)));
  const excludeTexts = groups.flat().reduce((bits, { texts }) => bits | (texts & POST_TITLE), USUAL_TEXTS);
  return { groups, excludeTexts };
}

const NO_OPTIONS: TermOptions = {};

function watchedTerm(term: string | RuleTerm, usual: number): WatchedTerm {
  if (typeof term === 'string') return { written: term, options: NO_OPTIONS, texts: usual };
  const { text, prefix, caseSensitive } = term;
  return { written: text, options: { prefix, caseSensitive }, texts: textBits(term.in, usual) };
}

const PREFIX = 1;
const CASE_SENSITIVE = 2;

/** The term in one string, which `unpackTerm` reads. */
function packTerm({ written, options }: WatchedTerm): string {
  const flags = (options.prefix === true ? PREFIX : 0) | (options.caseSensitive === true ? CASE_SENSITIVE : 0);
  return String.fromCharCode(flags) + written;
}

export function unpackTerm(packed: string): { written: string; options: TermOptions } {
  const flags = packed.charCodeAt(0);
  const options = { prefix: (flags & PREFIX) !== 0, caseSensitive: (flags & CASE_SENSITIVE) !== 0 };
  return { written: packed.slice(1), options };
}

/** The terms of a group of a rule that the index has, and to which the rule has a reference. */
export interface AcquiredTerms {
  /** As a record keeps them: as their owner wrote them, or packed with their options if the rule has conditions. */
  readonly written: readonly string[];
  /** For each a bit for each text in which it counts. */
  readonly texts: readonly number[];
  readonly addresses: readonly number[];
}

/** Leaves out terms that have nothing to search for, and terms that equal an earlier one of their group. */
export function acquireRule(index: TermIndex, rule: Rule) {
  const { terms = [], require = [], matchIn } = rule;
  const isPlain = terms.length === 0 && require.length === 0 && textBits(matchIn) === USUAL_TEXTS;
  const { groups, excludeTexts } = ruleTerms(rule);
  const excluded = rule.exclude.map((written) => ({ written, options: NO_OPTIONS, texts: ALL_TEXTS }));
  const [wanted, ...required] = groups.map((group) => acquireTerms(index, group, isPlain));
  return { isPlain, wanted: wanted!, required, exclude: acquireTerms(index, excluded, isPlain), excludeTexts };
}

function acquireTerms(index: TermIndex, group: readonly WatchedTerm[], isPlain: boolean): AcquiredTerms {
  const written: string[] = [];
  const texts: number[] = [];
  const addresses: number[] = [];
  for (const term of group) {
    const address = index.acquire(term.written, term.options);
    if (address === 0) continue;
    if (addresses.some((other, position) => other === address && texts[position] === term.texts)) {
      index.release(term.written, term.options);
      continue;
    }
    written.push(isPlain ? term.written : packTerm(term));
    texts.push(term.texts);
    addresses.push(address);
  }
  return { written, texts, addresses };
}
