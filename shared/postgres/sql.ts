import type { QueryResult, QueryResultRow } from 'pg';
import type { Queryable } from './pool.ts';

/*
 * Tags of statements: each value inserted into the text is sent as a parameter, so text cannot become SQL. A statement
 * that needs a value twice, or a piece of SQL, is given to `db.query`. `name`: sessions prepare it once.
 */

/** Runs `readRows<Row>(db)`SELECT … WHERE id = ${id}`` and returns its rows. */
export function readRows<Row extends QueryResultRow>(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    (await run<Row>(db, name, text, values)).rows;
}

/** The first row; undefined without any. */
export function readRow<Row extends QueryResultRow>(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<Row | undefined> =>
    (await run<Row>(db, name, text, values)).rows[0];
}

/** How many rows it read or changed. */
export function execute(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<number> =>
    (await run(db, name, text, values)).rowCount ?? 0;
}

/** Whether it read or changed exactly one row. */
export function isChanged(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<boolean> =>
    (await run(db, name, text, values)).rowCount === 1;
}

function run<Row extends QueryResultRow>(
  db: Queryable,
  name: string | undefined,
  pieces: TemplateStringsArray,
  values: unknown[],
): Promise<QueryResult<Row>> {
  const text = pieces.reduce((before, after, index) => `${before}$${index}${after}`);
  return name === undefined ? db.query<Row>(text, values) : db.query<Row>({ name, text, values });
}
