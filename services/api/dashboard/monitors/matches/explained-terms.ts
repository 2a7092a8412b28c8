import type { ExplainedTerm, ItemExplanation } from '../../../../../schemas/api/monitors/explain.ts';
import { html } from '../../../../../shared/html/html.ts';
import type { Html } from '../../../../../shared/html/html.ts';

const KINDS: Readonly<Record<NonNullable<ExplainedTerm['rule']>, string>> = {
  word: 'whole word',
  prefix: 'beginning of a word',
  phrase: 'words in this order',
  punctuation: 'exactly, with its punctuation',
  characters: 'characters',
  symbols: 'symbols',
};
const FIELDS: Readonly<Record<ExplainedTerm['positions'][number]['field'], string>> = {
  title: 'title',
  body: 'text',
  post_title: "title of the comment's post",
};

/** A table of the terms of a rule: where each was found, or what is nearest to it. */
export function explainedTerms({ terms, require = [], excludes }: ItemExplanation): Html {
  const rows = [
    ...terms.map((term) => termRow('any of these', term)),
    ...require.flatMap((group, number) => group.terms.map((term) => termRow(`and group ${number + 1}`, term))),
    ...excludes.map((term) => termRow('and none of these', term)),
  ];
  return html`<h2>Terms</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Terms of the rule">
      <table>
        <caption class="hidden">
          Terms of today’s rule
        </caption>
        <thead>
          <tr>
            <th scope="col">Term</th>
            <th scope="col">Needed</th>
            <th scope="col">Searched as</th>
            <th scope="col">Found in</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function termRow(needed: string, { term, rule, same_as: sameAs, positions, nearest }: ExplainedTerm): Html {
  const found = positions.map(({ field, start }) => `${FIELDS[field]}, character ${start + 1}`);
  return html`<tr>
    <th scope="row">${term}</th>
    <td>${needed}</td>
    <td>
      ${rule === null ? 'nothing to search for' : KINDS[rule]}${sameAs !== undefined && `, the same as “${sameAs}”`}
    </td>
    <td>
      ${found.length > 0 ? html`<strong>${found.join('; ')}</strong>` : 'not in it'}${nearest !== null && html`. ${nearest.message}`}
    </td>
  </tr>`;
}
