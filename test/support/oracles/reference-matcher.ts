import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import { naiveSearch } from './naive-matcher.ts';
import { fold } from './reference-fold.ts';

/**
 * A second implementation of a whole rule: string folding, then one regular expression per term, for every text by
 * itself. From shared/matching it uses only the table of case folding. It is simple and slow.
 */

const AROUND = /^[\s_"'‘“”„«»「」]+|[\s_"'‘“”„«»「」]+$/g;

type Search = (foldedText: string) => boolean;

interface ReferenceTerm {
  readonly written: string;
  readonly search: Search;
}

/** The folded keyword without markup, or empty. Of several keywords with the same result the first counts. */
export function referenceTerm(written: string): string {
  return fold(written).replace(AROUND, '');
}

/** Regular expressions are costly to compile, and properties use the same few terms many times. */
const compiled = new Map<string, Search>();

export function referenceSearch(written: string): Search {
  const term = referenceTerm(written);
  const search = compiled.get(term) ?? naiveSearch(term);
  if (compiled.size > 20_000) compiled.clear();
  compiled.set(term, search);
  return search;
}

function distinct(terms: readonly string[]): ReferenceTerm[] {
  const byTerm = new Map<string, ReferenceTerm>();
  for (const written of terms) {
    const term = referenceTerm(written);
    if (term !== '' && !byTerm.has(term)) byTerm.set(term, { written, search: referenceSearch(written) });
  }
  return [...byTerm.values()];
}

function referenceTexts(item: MatchItem): string[] {
  const texts = item.kind === 'post' ? [item.title] : [];
  if (!/^\s*\[(?:deleted|removed)\]\s*$/.test(item.text)) texts.push(item.text);
  return texts;
}

const community = (name: string): string =>
  name
    .trim()
    .replace(/^\/?r\//i, '')
    .toLowerCase();

export function referenceBlocked(rule: Rule, item: MatchItem): 'kind' | 'nsfw' | 'subreddit' | undefined {
  if (!(item.kind === 'post' ? rule.posts : rule.comments)) return 'kind';
  if (item.nsfw && !rule.nsfw) return 'nsfw';
  if (rule.subreddits.length === 0) return undefined;
  return rule.subreddits.some((name) => community(name) === community(item.subreddit)) ? undefined : 'subreddit';
}

/** The keywords of a rule that occur, ignoring filters and excludes, in the rule's order, equal ones once. */
export function referenceOccurring(terms: readonly string[], item: MatchItem): string[] {
  const texts = referenceTexts(item).map(fold);
  return distinct(terms)
    .filter(({ search }) => texts.some(search))
    .map(({ written }) => written);
}

/** The expected result of `matchOne`. */
export function referenceMatch(rule: Rule, item: MatchItem): string[] | undefined {
  if (referenceBlocked(rule, item) !== undefined) return undefined;
  const matched = referenceOccurring(rule.keywords, item);
  return matched.length === 0 || referenceOccurring(rule.exclude, item).length > 0 ? undefined : matched;
}
