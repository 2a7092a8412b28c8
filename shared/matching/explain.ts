import { blockingFilter, filteredItem, filterOf } from './item-filter.ts';
import type { FilterName } from './item-filter.ts';
import { FIELDS, forEachText } from './text/item-texts.ts';
import { matchOne } from './match-one.ts';
import type { MatchItem, MatchPosition, Rule } from './rule.ts';
import { TermIndex } from './terms/term-index.ts';
import type { TermKind } from './terms/term-shape.ts';

export interface TermExplanation {
  /** As the owner wrote it. */
  term: string;
  /** The rule by which it is searched, or undefined if it has nothing to search for. */
  kind: TermKind | undefined;
  /** An earlier term of the same list that equals this one after folding and counts instead of it. */
  sameAs: string | undefined;
  /** Its first occurrence in the title and its first in the text. Empty if it does not occur. */
  positions: MatchPosition[];
}

export interface Explanation {
  matches: boolean;
  /** The terms that a match would report. Empty if the item does not match. */
  matchedTerms: string[];
  /** The filter that rejects the item whatever its texts contain. */
  blockedBy: FilterName | undefined;
  keywords: TermExplanation[];
  exclude: TermExplanation[];
}

function explainTerms(terms: readonly string[], item: MatchItem): TermExplanation[] {
  const index = new TermIndex();
  const first = new Map<number, string>();
  const explained = terms.map((term) => {
    const record = index.acquire(term);
    const explanation: TermExplanation = { term, kind: index.kindOf(term), sameAs: first.get(record), positions: [] };
    if (record !== 0 && !first.has(record)) first.set(record, term);
    return { record, explanation };
  });
  forEachText(item, (text, field) => {
    index.begin();
    index.search(text, field);
    for (const { record, explanation } of explained) {
      const position = record === 0 ? -1 : index.found.indexOf(record);
      if (position < 0) continue;
      const { starts, ends } = index.found;
      explanation.positions.push({
        field: FIELDS[field] ?? 'text',
        start: starts.items[position] ?? 0,
        end: ends.items[position] ?? 0,
      });
    }
  });
  return explained.map(({ explanation }) => explanation);
}

/**
 * Explains why an item matches a rule or does not: where each term occurs, by which rule it is searched, and which
 * filter decides. It searches with the same index as live matching.
 */
export function explain(rule: Rule, item: MatchItem): Explanation {
  const matchedTerms = matchOne(rule, item);
  const { bits, subreddits } = filterOf(rule);
  return {
    matches: matchedTerms !== undefined,
    matchedTerms: matchedTerms ?? [],
    blockedBy: blockingFilter(bits, subreddits, filteredItem(item)),
    keywords: explainTerms(rule.keywords, item),
    exclude: explainTerms(rule.exclude, item),
  };
}
