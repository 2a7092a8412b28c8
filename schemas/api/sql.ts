import { z } from 'zod';
import { count, example } from '../messages/forum-item.ts';

/** Longer statements are refused. */
const MAX_QUERY = 10_000;

/** Control characters but line breaks and tabs. It is no `pattern`, because few validators know these classes. */
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;

/** Body of POST /v1/sql. */
export const sqlBody = z
  .strictObject({
    query: z
      .string()
      .min(1, 'must not be empty')
      .max(MAX_QUERY, `must have at most ${MAX_QUERY} characters`)
      .refine((query) => !CONTROL.test(query), 'must not contain control characters')
      .describe('One SELECT statement in the DuckDB dialect over the tables `matches`, `deliveries` and `monitors`.')
      .meta(example('SELECT subreddit, count(*) AS found FROM matches GROUP BY subreddit ORDER BY found DESC LIMIT 2')),
    format: z.enum(['json', 'csv', 'parquet']).default('json').describe('The format of the response.'),
  })
  .meta({ id: 'SqlQuery' });

/** Response of POST /v1/sql as JSON. */
export const sqlAnswer = z
  .strictObject({
    columns: z
      .array(z.strictObject({ name: z.string(), type: z.string() }))
      .describe('The names of the columns and their DuckDB types.')
      .meta(
        example([
          { name: 'subreddit', type: 'VARCHAR' },
          { name: 'found', type: 'BIGINT' },
        ]),
      ),
    rows: z
      .array(z.array(z.unknown()))
      .describe('The rows, each with a value for each column.')
      .meta(
        example([
          ['Coffee', 128],
          ['espresso', 41],
        ]),
      ),
    rows_read: count.describe("Rows of the account's tables, which the price depends on.").meta(example(4_260)),
    credits_used: count.describe('As in `X-Credits-Used`.'),
  })
  .meta({ id: 'SqlAnswer' });

export type SqlAnswer = z.infer<typeof sqlAnswer>;
