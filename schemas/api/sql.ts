import { z } from 'zod';

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
      .refine((query) => !CONTROL.test(query), 'must not have control characters')
      .describe(
        'One SELECT statement in the dialect of DuckDB over the tables `matches`, `deliveries` and `monitors`.',
      ),
    format: z.enum(['json', 'csv', 'parquet']).default('json').describe('The form of the answer.'),
  })
  .meta({ id: 'SqlQuery' });

/** Response of POST /v1/sql as JSON. */
export const sqlAnswer = z
  .strictObject({
    columns: z
      .array(z.strictObject({ name: z.string(), type: z.string() }))
      .describe('Names and types (of ClickHouse) of the columns.'),
    rows: z.array(z.array(z.unknown())).describe('The rows, each with a value for each column.'),
    /** Of the account's tables: what the price depends on. */
    rows_read: z.number().int().min(0),
    credits_used: z.number().int().min(0).describe('As in `X-Credits-Used`.'),
  })
  .meta({ id: 'SqlAnswer' });

export type SqlAnswer = z.infer<typeof sqlAnswer>;
