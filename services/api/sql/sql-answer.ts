import type { SqlAnswer } from '../../../schemas/api/sql.ts';
import { SqlRefused } from './sql-box.ts';
import type { SqlResult } from './sql-box.ts';

const INTEGER = /^U?(?:BIGINT|HUGEINT)$/;
const LINE_BREAK = 10;
/** Each row is read and written at once, while all other requests wait. */
const MOST_BYTES_OF_ROW = 2 ** 20;

/** An answer whose rows are made one by one as they are read: together they would take many times their bytes. */
export type SqlAnswerInRows = Omit<SqlAnswer, 'rows'> & { rows: SqlRows };

/**
 * The answer of the API.
 *
 * @param result the rows, one JSON array a line with 64-bit integers as strings
 * @throws SqlRefused when a row is too large
 */
export function sqlAnswer(result: SqlResult, credits: number): SqlAnswerInRows {
  const { columns, rowsRead } = result;
  return { columns, rows: new SqlRows(result), rows_read: rowsRead, credits_used: credits };
}

export class SqlRows implements Iterable<unknown[]> {
  readonly length: number;
  readonly #bytes: Buffer;
  /** Columns of integers. */
  readonly #integers: readonly number[];

  /** @throws SqlRefused */
  constructor({ columns, bytes }: Pick<SqlResult, 'columns' | 'bytes'>) {
    this.#bytes = bytes;
    this.#integers = columns.flatMap(({ type }, column) => (INTEGER.test(type) ? [column] : []));
    let length = 0;
    for (const { start, end } of this.#lines()) {
      if (end - start > MOST_BYTES_OF_ROW) {
        throw new SqlRefused('has a row of more than 1 MB as JSON; ask for it as csv or parquet');
      }
      length += 1;
    }
    this.length = length;
  }

  /** At most `count` rows, and none after the one with which they have `bytes` bytes of JSON. */
  first(count: number, bytes: number): unknown[][] {
    const rows: unknown[][] = [];
    let read = 0;
    for (const { start, end } of this.#lines()) {
      if (rows.length >= count || read >= bytes) break;
      rows.push(this.#rowAt(start, end));
      read += end - start;
    }
    return rows;
  }

  *[Symbol.iterator](): Generator<unknown[]> {
    for (const { start, end } of this.#lines()) yield this.#rowAt(start, end);
  }

  #rowAt(start: number, end: number): unknown[] {
    const row = JSON.parse(this.#bytes.toString('utf8', start, end)) as unknown[];
    for (const column of this.#integers) row[column] = numberOrText(row[column]);
    return row;
  }

  *#lines(): Generator<{ start: number; end: number }> {
    for (let start = 0; start < this.#bytes.length;) {
      const found = this.#bytes.indexOf(LINE_BREAK, start);
      const end = found < 0 ? this.#bytes.length : found;
      yield { start, end };
      start = end + 1;
    }
  }
}

/** Integers that a number cannot hold exactly stay strings. */
function numberOrText(value: unknown): unknown {
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : value;
}
