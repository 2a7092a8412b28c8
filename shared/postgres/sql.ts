import type { QueryResult, QueryResultRow } from 'pg';
import type { Queryable } from './pool.ts';

/*
 * Tags of statements: each value inserted into the text is sent as a parameter, so text cannot become SQL; a piece of
 * `sql` is inserted as it is. `name`: sessions prepare it once, so that its pieces must always be the same.
 */

/** A piece of SQL, which holds constants alone. */
export class Sql {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function sql(text: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Sql {
  return new Sql(String.raw({ raw: text }, ...pieces.map((piece) => (piece instanceof Sql ? piece.text : piece))));
}

/** Runs `readRows<Row>(db)`SELECT … WHERE id = ${id}`` and returns its rows. */
export function readRows<Row extends QueryResultRow>(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    (await run<Row>(db, name, text, values)).rows;
}

export function readRow<Row extends QueryResultRow>(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<Row | undefined> =>
    (await run<Row>(db, name, text, values)).rows[0];
}

/** The row of a statement that always has one. */
export function readOne<Row extends QueryResultRow>(db: Queryable, name?: string) {
  return async (text: TemplateStringsArray, ...values: unknown[]): Promise<Row> =>
    (await run<Row>(db, name, text, values)).rows[0]!;
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
  [begin = '', ...rest]: TemplateStringsArray,
  inserted: unknown[],
): Promise<QueryResult<Row>> {
  const values: unknown[] = [];
  const placed = (one: unknown) => (one instanceof Sql ? one.text : `$${values.push(one)}`);
  const text = rest.reduce((before, after, index) => before + placed(inserted[index]) + after, begin);
  return name === undefined ? db.query<Row>(text, values) : db.query<Row>({ name, text, values });
}

/** Replaces what Postgres cannot store. What is published must equal what is stored. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
