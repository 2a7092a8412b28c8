import type { SqlAnswer } from '../../../schemas/api/sql.ts';
import { CooperativeYield } from '../../../shared/runtime/cooperative-yield.ts';
import type { SqlResult } from '../../../shared/stores/sql/run-sql.ts';

const INTEGER = /^(?:Nullable\()?U?Int64\)?$/;
const LINE_BREAK = 10;

/** Large results take turns: a result of megabytes would hold up all other requests. */
const turns = new CooperativeYield();

/** The engine's rows, one JSON array a line with 64-bit integers as strings, as the API answers them. */
export async function sqlAnswer({ columns, bytes }: SqlResult, credits: number): Promise<SqlAnswer> {
  const integers = columns.flatMap(({ type }, column) => (INTEGER.test(type) ? [column] : []));
  const rows: unknown[][] = [];
  for (let start = 0; start < bytes.length;) {
    await turns.pause();
    const found = bytes.indexOf(LINE_BREAK, start);
    const end = found < 0 ? bytes.length : found;
    const row = JSON.parse(bytes.toString('utf8', start, end)) as unknown[];
    for (const column of integers) row[column] = numberOrText(row[column]);
    rows.push(row);
    start = end + 1;
  }
  return { columns, rows, credits_used: credits };
}

/** Integers that a number cannot hold exactly stay strings. */
function numberOrText(value: unknown): unknown {
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : value;
}
