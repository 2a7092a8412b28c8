import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ParquetColumn } from '../../../../shared/parquet/parquet-column.ts';
import { writeParquet } from '../../../../shared/parquet/write-parquet.ts';
import { readParquetFiles } from '../../../support/oracles/parquet-reader.ts';

interface Row {
  number: string;
  text: string;
  maybe: string | null;
  texts: string[];
  yes: boolean;
  at: Date;
  later: Date | null;
}

const COLUMNS: readonly ParquetColumn<Row>[] = [
  { name: 'number', type: 'text', of: (row) => row.number },
  { name: 'text', type: 'text', of: (row) => row.text },
  { name: 'maybe', type: 'optional text', of: (row) => row.maybe },
  { name: 'texts', type: 'list of texts', of: (row) => row.texts },
  { name: 'yes', type: 'boolean', of: (row) => row.yes },
  { name: 'at', type: 'time', of: (row) => row.at },
  { name: 'later', type: 'optional time', of: (row) => row.later },
];

/** Rows as the reader of Parquet files shows them. */
const shown = (rows: readonly Row[]): unknown[][] =>
  rows.map((row) => [row.number, row.text, row.maybe, row.texts, row.yes, time(row.at), row.later && time(row.later)]);
const time = (at: Date) => at.toISOString().replace('T', ' ').replace('Z', '');
const inOrder = (rows: unknown[][]): unknown[][] => rows.toSorted((one, other) => Number(one[0]) - Number(other[0]));

interface Cut {
  /** Rows of a batch. */
  batch: number;
  /** Rows of a row group, or characters of `text`. */
  rows: number;
  size: number;
}

async function piecesOf(given: readonly Row[], { batch, rows, size }: Cut): Promise<Buffer[]> {
  async function* batches(): AsyncGenerator<readonly Row[]> {
    for (let at = 0; at < given.length; at += batch) yield await Promise.resolve(given.slice(at, at + batch));
  }
  const limits = { rows, size, sizeOf: (row: Row) => row.text.length };
  const pieces: Buffer[] = [];
  for await (const piece of writeParquet(COLUMNS, batches(), limits)) pieces.push(piece);
  return pieces;
}

const text = fc.string({ unit: 'binary', maxLength: 12 });
const date = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const row = fc.record({
  text,
  maybe: fc.option(text),
  texts: fc.array(text, { maxLength: 4 }),
  yes: fc.boolean(),
  at: date,
  later: fc.option(date),
});
const rowList = fc
  .array(row, { maxLength: 60 })
  .map((rows) => rows.map((one, index): Row => ({ number: String(index), ...one })));
const few = fc.integer({ min: 1, max: 20 });

test('ClickHouse reads what was written, whatever it is and however it is cut', async () => {
  const samples = fc.sample(fc.tuple(rowList, fc.record({ batch: few, rows: few, size: few })), 300);
  const files = await Promise.all(samples.map(async ([rows, cut]) => Buffer.concat(await piecesOf(rows, cut))));
  const read = readParquetFiles(files);
  samples.forEach(([rows], index) => {
    expect(inOrder(read[index]!)).toEqual(shown(rows));
  });
});

test('ClickHouse reads long runs, lists and texts, and many row groups', async () => {
  const at = new Date('2026-03-04T10:00:00.123Z');
  const rows = Array.from({ length: 20_000 }, (_, index): Row => ({
    number: String(index),
    text: index === 7 ? 'ü😀'.repeat(300_000) : `text ${index}`,
    maybe: index < 15_000 ? null : 'there',
    texts: index === 9 ? Array<string>(20_000).fill('x') : [],
    yes: index % 3 === 0,
    at,
    later: index % 2 === 0 ? at : null,
  }));
  const [many, one] = await Promise.all([
    piecesOf(rows, { batch: 1_000, rows: 100, size: 900_000 }),
    piecesOf(rows, { batch: 1_000, rows: 100_000, size: 1_000_000_000 }),
  ]);
  // The beginning, the row groups, the end; the long text ends its group.
  expect([many.length, one.length]).toEqual([1 + 201 + 1, 3]);
  const read = readParquetFiles([Buffer.concat(many), Buffer.concat(one)]);
  // Compared as text: a difference between 20,000 rows would be shown for minutes.
  for (const found of read) expect(JSON.stringify(inOrder(found)) === JSON.stringify(shown(rows))).toBe(true);
});

test('a row group is written as soon as it is full, before more rows are asked for', async () => {
  let asked = 0;
  const sample: Row = { number: '1', text: 'x', maybe: null, texts: [], yes: true, at: new Date(0), later: null };
  async function* batches(): AsyncGenerator<readonly Row[]> {
    for (;;) {
      asked++;
      yield await Promise.resolve([sample, sample]);
    }
  }
  const pieces = writeParquet(COLUMNS, batches(), { rows: 10, size: 1_000, sizeOf: () => 1 });
  await pieces.next();
  expect(asked).toBe(0);
  await pieces.next();
  expect(asked).toBe(5);
  await pieces.next();
  expect(asked).toBe(10);
});
