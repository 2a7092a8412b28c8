import type { SqlAnswer } from '../../../schemas/api/sql.ts';

interface CompactResult {
  meta: { name: string; type: string }[];
  data: unknown[][];
}

const INTEGER = /^(?:Nullable\()?U?Int64\)?$/;

/** The engine's result, whose 64-bit integers are strings, as the API answers it. */
export function sqlAnswer(result: Buffer, credits: number): SqlAnswer {
  const { meta, data } = JSON.parse(result.toString('utf8')) as CompactResult;
  const integers = meta.flatMap(({ type }, column) => (INTEGER.test(type) ? [column] : []));
  for (const row of data) for (const column of integers) row[column] = numberOrText(row[column]);
  return { columns: meta, rows: data, credits_used: credits };
}

/** Integers that a number cannot hold exactly stay strings. */
function numberOrText(value: unknown): unknown {
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : value;
}
