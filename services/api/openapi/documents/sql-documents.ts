import { sqlExamples as examples } from '../examples/sql-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const TABLES =
  '`matches`: match_id, monitor_id, monitor_name, seq, kind, thing_id, subreddit, matched_terms, suppressed, suppressed_reason, backfill, created_utc, first_seen_at, created_at, and of its content post_id, author, title, body, url, permalink, nsfw, score, removed, language. `deliveries`: monitor_id, seq, match_id, attempt, started_at, duration_ms, webhook_kind, host, status, error, delivery_status, next_attempt_at. `monitors`: monitor_id, name, created_at.';

export const sqlDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: '/v1/sql',
    operationId: 'runSql',
    tag: 'SQL',
    summary: 'Run one SELECT over your matches',
    description: `One SELECT in the dialect of ClickHouse over the rows of your monitors of the last 30 days, a few seconds behind. ${TABLES} Subqueries, joins, \`WITH\`, unions, windows and a list of functions are allowed; table functions, other tables, settings and formats are not. What texts and lists are searched for is written out (\`has(matched_terms, 'rust')\`, not \`has(matched_terms, author)\`), and patterns have at most 200 characters and few counted repetitions: such calls cannot be interrupted. A statement may take 10 s and 1 GB of memory, and return 100,000 rows or 32 MB, as JSON 1 MB a row. Integers that a number cannot hold exactly are strings. In CSV, an apostrophe stands before texts that a spreadsheet would take for a formula. One statement of an account runs at a time. Costs 1 credit for each started second; failed statements are free, and together they may take 60 s a day (UTC); one that goes on after its time takes all of them.`,
    body: { schema: 'SqlQuery', examples: { counts: examples.body } },
    answers: [
      {
        status: 200,
        description: 'The rows.',
        content: [
          { schema: 'SqlAnswer', examples: { rows: examples.answer } },
          { type: 'text/csv', schema: { type: 'string' }, examples: { rows: examples.csv } },
          {
            type: 'application/vnd.apache.parquet',
            schema: { type: 'string' },
            examples: { rows: 'PAR1…' },
          },
        ],
        headers: [{ name: 'X-Credits-Used' }],
      },
    ],
    errors: [
      'invalid_request',
      'insufficient_credits',
      'payload_too_large',
      'unsupported_media_type',
      'service_unavailable',
    ],
  },
];
