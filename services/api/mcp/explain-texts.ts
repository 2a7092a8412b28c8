import type { ExplainedTerm, ItemExplanation, RuleExplanation } from '../../../schemas/api/monitors/explain.ts';
import { inlineText } from '../reading/comments/inline-text.ts';

/** An explanation in few lines: the verdict, the terms, what filters reject, and the history. */
export function explanationText(explanation: ItemExplanation | RuleExplanation): string {
  const { matched, terms, require = [], excludes, filters, history } = explanation;
  const failed = filters.filter(({ passed }) => !passed).map(({ filter }) => filter);
  return [
    matched === null ? 'Its content is not known.' : matched ? 'It matches the rule.' : 'It does not match the rule.',
    ...terms.map((term) => `- ${termText(term)}`),
    ...require.flatMap((group, number) =>
      group.terms.map((term) => `- required group ${number + 1}: ${termText(term)}`),
    ),
    ...excludes.map((term) => `- excluded: ${termText(term)}`),
    ...(failed.length === 0 ? [] : [`Rejected by: ${failed.join(', ')}`]),
    ...history.map(({ at, message }) => `${at ?? 'then'}: ${inlineText(message)}`),
  ].join('\n');
}

function termText({ term, matched, positions, nearest }: ExplainedTerm): string {
  const places = positions.map(({ field, start, end }) => `${field} ${start}–${end}`).join(', ');
  const why = nearest === null ? '' : ` ${inlineText(nearest.message)}`;
  return matched ? `${inlineText(term)}: in ${places}` : `${inlineText(term)}: not in it.${why}`;
}
