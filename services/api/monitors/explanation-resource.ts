import type { ExplainedTerm, RuleExplanation } from '../../../schemas/api/rules.ts';
import type { Explanation, TermExplanation } from '../../../shared/matching/explain.ts';
import type { NearMiss } from '../../../shared/matching/near-miss.ts';
import type { MatchPosition } from '../../../shared/matching/rule.ts';

export function explanationResource(explanation: Explanation): Omit<RuleExplanation, 'history'> {
  const { matches, keywords, terms, require, exclude, filters } = explanation;
  return {
    matched: matches,
    terms: [...keywords, ...terms].map(termResource),
    ...(require.length > 0 && {
      require: require.map((group) => ({ matched: group.isMet, terms: group.terms.map(termResource) })),
    }),
    excludes: exclude.map(termResource),
    filters,
  };
}

function termResource({ term, kind, sameAs, positions, nearest }: TermExplanation): ExplainedTerm {
  return {
    term,
    matched: positions.length > 0,
    rule: kind ?? null,
    positions: positions.map(positionResource),
    nearest: nearest === undefined ? null : nearestResource(term, nearest),
    ...(sameAs !== undefined && { same_as: sameAs }),
  };
}

/** Responses name the texts as monitors do. */
function positionResource({ field, start, end }: MatchPosition): ExplainedTerm['positions'][number] {
  return { field: field === 'text' ? 'body' : field, start, end };
}

function nearestResource(term: string, near: NearMiss): NonNullable<ExplainedTerm['nearest']> {
  const { reason, written, position, missing } = near;
  return {
    reason,
    written,
    position: positionResource(position),
    ...(missing !== undefined && { missing }),
    message: nearMissInWords(term, near),
  };
}

/** What keeps the piece of the text from matching, in one sentence. */
function nearMissInWords(term: string, { reason, written, missing = [] }: NearMiss): string {
  const piece = `“${written}”`;
  switch (reason) {
    case 'case':
      return `${piece} differs from “${term}” in capital letters, and this term is case-sensitive.`;
    case 'other_text':
      return `${piece} is in a text where “${term}” does not count.`;
    case 'inside_word':
      return `${piece} contains “${term}”, but as part of a longer word.`;
    case 'punctuation':
      return `${piece} has the words of “${term}”, but different punctuation.`;
    case 'joined':
      return `${piece} is one word, but “${term}” is not.`;
    case 'split':
      return `${piece} is not one word, but “${term}” is.`;
    case 'accents':
      return `${piece} has different accents from “${term}”.`;
    case 'similar_word':
      return `${piece} differs from “${term}” by one letter.`;
    case 'apart':
      return `All words of “${term}” are in the text, but not together.`;
    case 'some_words':
      return `${piece} is in the text, but not ${missing.map((word) => `“${word}”`).join(', ')}.`;
  }
}
