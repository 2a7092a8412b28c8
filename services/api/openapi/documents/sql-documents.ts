import { SQL_TABLES } from '../../../../shared/stores/sql/account-rows.ts';
import { SQL_LIMITS } from '../../sql/sql-box.ts';
import { sqlExamples as examples } from '../examples/sql-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const TABLES = SQL_TABLES.map(({ name, columns }) => `\`${name}\`: ${columns.join(', ')}.`).join(' ');

export const sqlDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: '/v1/sql',
    operationId: 'runSql',
    tag: 'SQL',
    summary: 'Run one SELECT over your matches',
    description: `One SELECT in the dialect of DuckDB over the rows of your monitors of the last 30 days, a few seconds behind. ${TABLES} It runs in a process of its own that has these rows and nothing else. A statement may take ${SQL_LIMITS.seconds} s and ${SQL_LIMITS.memoryMb} MB of memory, and return 100,000 rows or ${SQL_LIMITS.resultMb} MB, as JSON 1 MB a row. Integers that a number cannot hold exactly are strings. In CSV, an apostrophe stands before all that a spreadsheet could take for a formula, also after \`;\`, a tab or the end of a line within a text. One statement of an account runs at a time. Costs 1 credit for each started million rows of your tables (\`rows_read\`); failed statements are free, and together they may take 60 s a day (UTC).`,
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
