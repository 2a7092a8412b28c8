import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { encodeColumn, pathOf, physicalType, schemaOf } from './parquet-column.ts';
import type { ParquetColumn } from './parquet-column.ts';
import { thriftBytes } from './thrift-struct.ts';
import type { ThriftStruct, ThriftValue } from './thrift-struct.ts';

const MAGIC = Buffer.from('PAR1');
const PLAIN = 0;
const RLE = 3;
const GZIP = 2;

/** When a row group is written: at so many rows, or when `sizeOf` the rows sums up to so much. */
export interface RowGroupLimits<Row> {
  rows: number;
  size: number;
  sizeOf: (row: Row) => number;
}

/**
 * A Parquet file with the given rows, as its pieces. Rows are held until they fill a row group, which is written with
 * one page for each column, compressed with gzip; so the memory it takes does not grow with the number of rows, except
 * for about a kilobyte for each group, which the end of the file lists.
 *
 * @param batches rows in order; more are requested when the last piece has been taken
 */
export async function* writeParquet<Row>(
  columns: readonly ParquetColumn<Row>[],
  batches: AsyncIterable<readonly Row[]>,
  { rows: mostRows, size: mostSize, sizeOf }: RowGroupLimits<Row>,
): AsyncGenerator<Buffer> {
  yield MAGIC;
  const groups: RowGroup[] = [];
  let offset = MAGIC.length;
  let rows: Row[] = [];
  let size = 0;
  const groupOf = async (): Promise<Buffer> => {
    const written = await writeRowGroup(columns, rows, offset);
    groups.push(written.group);
    offset += written.bytes.length;
    rows = [];
    size = 0;
    return written.bytes;
  };
  for await (const batch of batches) {
    for (const row of batch) {
      rows.push(row);
      size += sizeOf(row);
      if (rows.length >= mostRows || size >= mostSize) yield await groupOf();
    }
  }
  if (rows.length > 0) yield await groupOf();
  yield footer(columns, groups);
}

interface RowGroup {
  metadata: ThriftStruct;
  rows: number;
}

async function writeRowGroup<Row>(
  columns: readonly ParquetColumn<Row>[],
  rows: readonly Row[],
  offset: number,
): Promise<{ bytes: Buffer; group: RowGroup }> {
  const chunks: ThriftValue[] = [];
  const parts: Buffer[] = [];
  let at = offset;
  let size = 0;
  // One after the other: the event loop turns between columns, and memory holds one page beside the compressed ones.
  for (const column of columns) {
    const { bytes, count } = encodeColumn(column, rows);
    const compressed = await promisify(gzip)(bytes, { level: 1 });
    const header = pageHeader(bytes.length, compressed.length, count);
    const uncompressedSize = header.length + bytes.length;
    const compressedSize = header.length + compressed.length;
    chunks.push(columnChunk(column, { offset: at, count, uncompressedSize, compressedSize }));
    parts.push(header, compressed);
    at += compressedSize;
    size += uncompressedSize;
  }
  const metadata: ThriftStruct = [
    [1, { list: chunks }],
    [2, { i64: size }],
    [3, { i64: rows.length }],
  ];
  return { bytes: Buffer.concat(parts), group: { metadata, rows: rows.length } };
}

function pageHeader(uncompressedSize: number, compressedSize: number, count: number): Buffer {
  const dataPage: ThriftStruct = [
    [1, { i32: count }],
    [2, { i32: PLAIN }],
    [3, { i32: RLE }],
    [4, { i32: RLE }],
  ];
  return thriftBytes([
    [1, { i32: 0 }],
    [2, { i32: uncompressedSize }],
    [3, { i32: compressedSize }],
    [5, { struct: dataPage }],
  ]);
}

function columnChunk<Row>(
  column: ParquetColumn<Row>,
  page: { offset: number; count: number; uncompressedSize: number; compressedSize: number },
): ThriftValue {
  const metadata: ThriftStruct = [
    [1, { i32: physicalType(column) }],
    [2, { list: [{ i32: PLAIN }, { i32: RLE }] }],
    [3, { list: pathOf(column).map((text) => ({ text })) }],
    [4, { i32: GZIP }],
    [5, { i64: page.count }],
    [6, { i64: page.uncompressedSize }],
    [7, { i64: page.compressedSize }],
    [9, { i64: page.offset }],
  ];
  return {
    struct: [
      [2, { i64: page.offset }],
      [3, { struct: metadata }],
    ],
  };
}

function footer<Row>(columns: readonly ParquetColumn<Row>[], groups: readonly RowGroup[]): Buffer {
  const root: ThriftValue = {
    struct: [
      [4, { text: 'schema' }],
      [5, { i32: columns.length }],
    ],
  };
  const metadata = thriftBytes([
    [1, { i32: 1 }],
    [2, { list: [root, ...columns.flatMap(schemaOf)] }],
    [3, { i64: groups.reduce((sum, { rows }) => sum + rows, 0) }],
    [4, { list: groups.map((group) => ({ struct: group.metadata })) }],
  ]);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(metadata.length);
  return Buffer.concat([metadata, length, MAGIC]);
}
