import { html } from '../../../../../shared/html/html.ts';
import type { Html } from '../../../../../shared/html/html.ts';
import type { FieldProblems } from '../../call-api.ts';
import type { Visit } from '../../page-route.ts';
import { field } from '../../parts/field.ts';

/** What browsers send for a day and time, which the page says to be UTC. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

/** What a page shows of the matches, as parameters of GET /v1/monitors/{id}/matches. */
export function matchFilter({ query }: Visit): Record<string, string> {
  const given = ['before', 'since', 'until', 'keyword', 'subreddit'].map((name) => [name, query.text(name)] as const);
  const named = given.filter(([, value]) => value !== '');
  return Object.fromEntries(
    named.map(([name, value]) => [name, LOCAL_TIME.test(value) ? `${value.padEnd(19, ':00')}Z` : value]),
  );
}

/** The form that filters matches. */
export function matchFilterForm(visit: Visit, id: string, problems: FieldProblems): Html {
  const { query } = visit;
  const isUsed = ['since', 'until', 'keyword', 'subreddit'].some((name) => query.text(name) !== '');
  const of = (name: string, label: string) => {
    const problem = problems.get(name);
    return { name, label, value: query.text(name), ...(problem !== undefined && { problem }) };
  };
  const others = [...problems].filter(([name]) => !['since', 'until', 'keyword', 'subreddit'].includes(name));
  return html`<details ${(isUsed || problems.size > 0) && html`open`}>
    <summary>Filter</summary>
    ${others.map(([name, message]) => html`<p class="notice bad" role="alert">${name}: ${message}</p>`)}
    <form class="narrow" action="${visit.path(`/monitors/${id}`)}">
      ${field({ ...of('since', 'Recorded from (UTC)'), type: 'datetime-local' })}
      ${field({ ...of('until', 'Recorded before (UTC)'), type: 'datetime-local' })}
      ${field({ ...of('keyword', 'Keyword'), hint: 'As it is written in the rule.' })}
      ${field(of('subreddit', 'Community'))}
      <div class="actions">
        <button>Filter</button>
        <a class="button quiet" href="${visit.path(`/monitors/${id}`)}">Show all</a>
      </div>
    </form>
  </details>`;
}
