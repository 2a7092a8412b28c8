import { blockingFilter, filteredItem, filterOf, muteOf } from './item-filter.ts';
import type { FilterName } from './item-filter.ts';
import { matchOne } from './monitor-index.ts';
import { NearMissFinder } from './near-miss.ts';
import type { NearMiss } from './near-miss.ts';
import type { MatchItem, MatchPosition, Mute, Rule } from './rule.ts';
import { ruleTerms } from './rule-terms.ts';
import type { WatchedTerm } from './rule-terms.ts';
import { TermIndex } from './terms/term-index.ts';
import type { TermKind } from './text/tokens.ts';
import { ALL_TEXTS, forEachText, TEXTS } from './rule.ts';

export interface TermExplanation {
  /** As the owner wrote it. */
  term: string;
  /** The rule by which it is searched, or undefined if it has nothing to search for. */
  kind: TermKind | undefined;
  /** An earlier term of the same list that equals this one after folding and counts instead of it. */
  sameAs: string | undefined;
  /** Its first occurrence in each text in which it counts, the title first. Empty if it does not occur. */
  positions: MatchPosition[];
  /** What is nearest to a term that does not occur; undefined if nothing is near. */
  nearest: NearMiss | undefined;
}

export interface GroupExplanation {
  /** Whether the item has one of the terms. */
  isMet: boolean;
  terms: TermExplanation[];
}

export interface FilterExplanation {
  filter: FilterName | 'muted';
  passed: boolean;
}

export interface Explanation {
  matches: boolean;
  /** The terms that a match would report. Empty if the item does not match. */
  matchedTerms: string[];
  /** The filter that rejects the item whatever its texts contain; `muted` only if no other filter does. */
  blockedBy: FilterName | 'muted' | undefined;
  /** The filters that the rule has; kind and NSFW are always among them. */
  filters: FilterExplanation[];
  /** The mute that applies to the item, if there is one. */
  mutedBy: Mute | undefined;
  keywords: TermExplanation[];
  /** The `terms` of the rule. One that equals a keyword counts as the same. */
  terms: TermExplanation[];
  /** One for each group of `require`. */
  require: GroupExplanation[];
  exclude: TermExplanation[];
}

/**
 * Explains why an item matches a rule or does not: where each term occurs, by which rule it is searched, which groups
 * of required terms are met, and which filter decides. It searches with the same index as live matching.
 *
 * @param mutes of the monitor, in any spelling
 */
export function explain(rule: Rule, item: MatchItem, mutes: readonly Mute[] = []): Explanation {
  const { groups, excludeTexts } = ruleTerms(rule);
  const excluded = rule.exclude.map((written) => ({ written, options: {}, texts: excludeTexts }));
  const [exclude = [], wanted = [], ...required] = explainTerms([excluded, ...groups], item);
  const mutedBy = muteOf(mutes, item);
  const blockedBy = blockingFilter(filterOf(rule), filteredItem(item));
  const matchedTerms = mutedBy === undefined ? matchOne(rule, item) : undefined;
  return {
    matches: matchedTerms !== undefined,
    matchedTerms: matchedTerms ?? [],
    blockedBy: blockedBy ?? (mutedBy === undefined ? undefined : 'muted'),
    filters: explainFilters(rule, item).concat(
      mutes.length === 0 ? [] : [{ filter: 'muted', passed: mutedBy === undefined }],
    ),
    mutedBy,
    keywords: wanted.slice(0, rule.keywords.length),
    terms: wanted.slice(rule.keywords.length),
    require: required.map((terms) => ({ isMet: terms.some(({ positions }) => positions.length > 0), terms })),
    exclude,
  };
}

/**
 * Where each term first occurs in each text of an item, the title first: as a whole, or else as the beginning of a
 * word.
 * Costs one search of the texts for all terms; `explain` also looks for what is near, which takes many times as long.
 */
export function positionsOfTerms(written: readonly string[], item: MatchItem): MatchPosition[][] {
  const index = new TermIndex();
  const terms = written.map((term) => [index.acquire(term), index.acquire(term, { prefix: true })] as const);
  index.begin();
  forEachText(item, true, (text, number) => {
    index.search(text, number);
  });
  return terms.map(([whole, prefix]) => {
    const positions = positionsOf(index, whole, ALL_TEXTS);
    return positions.length > 0 ? positions : positionsOf(index, prefix, ALL_TEXTS);
  });
}

/** The same of one term. */
export const positionsOfTerm = (written: string, item: MatchItem): MatchPosition[] =>
  positionsOfTerms([written], item)[0]!;

const ALL_ITEMS: Rule = { keywords: [], exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };

/** Asks for each part of the rule's filters what it alone decides. */
function explainFilters(rule: Rule, item: MatchItem): FilterExplanation[] {
  const { posts, comments, nsfw, subreddits, excludeSubreddits, authors, excludeAuthors, languages } = rule;
  const parts: [FilterName, Partial<Rule> | undefined][] = [
    ['kind', { posts, comments }],
    ['nsfw', { nsfw }],
    ['subreddit', subreddits.length > 0 ? { subreddits } : undefined],
    ['subreddit_excluded', excludeSubreddits && { excludeSubreddits }],
    ['author', authors && { authors }],
    ['author_excluded', excludeAuthors && { excludeAuthors }],
    ['language', languages && { languages }],
  ];
  return parts
    .filter(([, part]) => part !== undefined)
    .map(([filter, part]) => ({
      filter,
      passed: blockingFilter(filterOf({ ...ALL_ITEMS, ...part }), filteredItem(item)) === undefined,
    }));
}

/** Explains lists of terms, all in one pass over the item. */
function explainTerms(lists: readonly (readonly WatchedTerm[])[], item: MatchItem): TermExplanation[][] {
  const index = new TermIndex();
  const addressed = lists.map((terms) =>
    terms.map((term) => ({
      ...term,
      address: index.acquire(term.written, term.options),
      inAnyCase: index.acquire(term.written, { prefix: term.options.prefix }),
    })),
  );
  index.begin();
  forEachText(item, true, (written, text) => {
    index.search(written, text);
  });
  const nearMisses = new NearMissFinder(item);
  return addressed.map((terms) => {
    const first = new Map<string, string>();
    return terms.map(({ written, options, texts, address, inAnyCase }) => {
      const key = `${address} ${texts}`;
      const positions = positionsOf(index, address, texts);
      const nearest = () =>
        missIn(item, 'case', positionsOf(index, inAnyCase, texts)) ??
        missIn(item, 'other_text', positionsOf(index, address, ALL_TEXTS & ~texts)) ??
        nearMisses.find(written, texts);
      const explanation: TermExplanation = {
        term: written,
        kind: index.kindOf(written, options),
        sameAs: first.get(key),
        positions,
        nearest: address === 0 || positions.length > 0 ? undefined : nearest(),
      };
      if (address !== 0 && !first.has(key)) first.set(key, written);
      return explanation;
    });
  });
}

function missIn(item: MatchItem, reason: NearMiss['reason'], [position]: MatchPosition[]): NearMiss | undefined {
  if (position === undefined) return undefined;
  const { field, start, end } = position;
  return { reason, position, written: item[field === 'text' ? 'text' : 'title'].slice(start, end) };
}

/** @param texts a bit for each text whose position is wanted */
function positionsOf({ found }: TermIndex, term: number, texts: number): MatchPosition[] {
  const index = term === 0 ? -1 : found.indexOf(term);
  if (index < 0) return [];
  const foundIn = (found.texts.items[index] ?? 0) & texts;
  return TEXTS.flatMap((field, text) =>
    ((foundIn >>> text) & 1) === 1 ? [{ field, ...found.position(index, text) }] : [],
  );
}
