import type { SqlAnswer } from '../../../schemas/api/sql.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { SQL_TABLES } from '../../../shared/accounts/statement-rows.ts';
import { attempt, file, get, NO_PROBLEMS, post } from './page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from './page.ts';
import { number, otherProblems, textArea } from './parts.ts';

const MAX_ROWS = 200;
/** JSON of the shown rows but the last one: all other requests wait while a page is rendered. */
const MAX_BYTES = 256 * 1024;
/** JSON of the columns and the last row together. */
const MAX_REST_BYTES = 3 * 2 ** 20;
const FIRST = `SELECT subreddit, count(*) AS found, count(DISTINCT author) AS authors
FROM matches
WHERE created_at > now() - INTERVAL 7 DAY
GROUP BY subreddit
ORDER BY found DESC
LIMIT 20`;
const EXAMPLES: readonly (readonly [name: string, query: string])[] = [
  ['Communities', FIRST],
  [
    'Terms by day',
    `SELECT created_at::DATE AS day, term, count(*) AS found
FROM (SELECT created_at, unnest(matched_terms) AS term FROM matches)
GROUP BY day, term
ORDER BY day DESC, found DESC
LIMIT 50`,
  ],
  [
    'Webhook responses',
    `SELECT host, status, count(*) AS attempts, round(quantile_cont(duration_ms, 0.95)) AS p95_ms
FROM deliveries
GROUP BY host, status
ORDER BY attempts DESC`,
  ],
];

const INTRODUCTION = html`<p>
  Run one SELECT over your rows of the last 30 days, in the
  <a href="https://duckdb.org/docs/stable/sql/introduction" rel="noopener noreferrer">DuckDB dialect</a>. It costs 1
  credit per million rows that you have, rounded up. Failed statements are free.
</p>`;
const TABLES = html`<h2>Tables</h2>
  <dl>
    ${SQL_TABLES.map(
      ({ name, columns }) =>
        html`<dt><code>${name}</code></dt>
          <dd>${columns.join(', ')}</dd>`,
    )}
  </dl>`;

/** A SELECT over the matches of the account: as a table, or as a CSV file. */
export const sqlPages: PageRoute[] = [
  get('/sql', (request) => page(request, request.query.text('query') || FIRST)),
  post('/sql', run),
];

async function run(request: PageRequest): Promise<PageResponse> {
  const query = request.form.text('query');
  const format = request.form.text('format') === 'csv' ? 'csv' : 'json';
  const { value, problems } = await attempt(request.call('post', '/v1/sql', { body: { query, format } }));
  if (value === undefined) return page(request, query, false, problems);
  if (format === 'json') return page(request, query, result(value.body as Buffer));
  return file('text/csv; charset=utf-8', 'matches.csv', value.body as Uint8Array);
}

function page(request: PageRequest, query: string, answer: HtmlValue = false, problems = NO_PROBLEMS): ShownPage {
  return {
    title: 'SQL',
    status: problems.size === 0 ? 200 : 400,
    content: html`${INTRODUCTION} ${otherProblems(problems, ['query'])}
      <form method="post" action="${request.path('/sql')}">
        ${request.csrfField}
        ${textArea({ name: 'query', label: 'Statement', value: query, rows: 8, problem: problems.get('query') })}
        <div class="actions">
          <button name="format" value="json">Run</button>
          <button class="quiet" name="format" value="csv">Download as CSV</button>
        </div>
      </form>
      <p class="actions">
        Examples:
        ${EXAMPLES.map(([name, text]) => html`<a href="${request.path(`/sql?query=${encodeURIComponent(text)}`)}">${name}</a>`)}
      </p>
      ${answer} ${TABLES}`,
  };
}

/** Reads the beginning and the end of a response, which has one row a line, and counts the lines. */
function result(body: Buffer): Html {
  // Without the line break at its end.
  const answer = body.subarray(0, -1);
  const [begin = '', ...lines] = answer.toString('utf8', 0, MAX_BYTES + MAX_REST_BYTES).split('\n');
  const end = answer.toString('utf8', answer.lastIndexOf('\n'));
  const { columns, credits_used: credits } = JSON.parse(begin + end) as SqlAnswer;
  const shown: unknown[][] = [];
  let read = 0;
  for (const line of lines.slice(0, -1)) {
    if (shown.length >= MAX_ROWS || read >= MAX_BYTES) break;
    shown.push(JSON.parse(line.replace(/,$/, '')) as unknown[]);
    read += line.length;
  }
  let length = -1;
  for (let at = answer.indexOf('\n'); at >= 0; at = answer.indexOf('\n', at + 1)) length += 1;
  const more = shown.length < length && `; showing the first ${shown.length}`;
  return html`<h2>Result</h2>
    <p>${number(length)} rows${more}. It cost ${credits} ${credits === 1 ? 'credit' : 'credits'}.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Result">
      <table>
        <thead>
          <tr>
            ${columns.map(({ name }) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (row) =>
              html`<tr>
                ${row.map((value) => html`<td>${cell(value)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function cell(value: unknown): HtmlValue {
  if (value === null) return html`<span class="note">null</span>`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
