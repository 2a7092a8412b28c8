import type { ThriftStruct, ThriftValue } from './thrift-struct.ts';

/** A column: its name, its type, and its value in a row. Times are to the millisecond, in UTC. */
export type ParquetColumn<Row> = { name: string } & (
  | { type: 'text'; of: (row: Row) => string }
  | { type: 'optional text'; of: (row: Row) => string | null }
  | { type: 'list of texts'; of: (row: Row) => readonly string[] }
  | { type: 'boolean'; of: (row: Row) => boolean }
  | { type: 'time'; of: (row: Row) => Date }
  | { type: 'optional time'; of: (row: Row) => Date | null }
);

/** The numbers of Parquet's format that are used here: https://github.com/apache/parquet-format */
export const PHYSICAL = { boolean: 0, int64: 2, byteArray: 6 } as const;
const REPETITION = { required: 0, optional: 1, repeated: 2 } as const;
const TEXT: ThriftStruct = [
  [6, { i32: 0 }],
  [10, { struct: [[1, { struct: [] }]] }],
];
const LIST: ThriftStruct = [
  [6, { i32: 3 }],
  [10, { struct: [[3, { struct: [] }]] }],
];
const TIMESTAMP: ThriftStruct = [
  [6, { i32: 9 }],
  [
    10,
    {
      struct: [
        [
          8,
          {
            struct: [
              [1, { bool: true }],
              [2, { struct: [[1, { struct: [] }]] }],
            ],
          },
        ],
      ],
    },
  ],
];

/** The values of a column in some rows, as a page holds them. */
export interface EncodedColumn {
  /** Levels, then values. */
  bytes: Buffer;
  /** Of the values, with absent ones and empty lists. */
  count: number;
}

export function physicalType({ type }: Pick<ParquetColumn<never>, 'type'>): number {
  if (type === 'boolean') return PHYSICAL.boolean;
  return type === 'time' || type === 'optional time' ? PHYSICAL.int64 : PHYSICAL.byteArray;
}

export function pathOf({ name, type }: Pick<ParquetColumn<never>, 'type' | 'name'>): string[] {
  return type === 'list of texts' ? [name, 'list', 'element'] : [name];
}

/** The elements of the schema that describe a column. */
export function schemaOf({ name, type }: Pick<ParquetColumn<never>, 'type' | 'name'>): ThriftValue[] {
  const { required, optional, repeated } = REPETITION;
  if (type === 'list of texts') {
    return [group(name, required, LIST), group('list', repeated), leaf('element', required, PHYSICAL.byteArray, TEXT)];
  }
  const repetition = type.startsWith('optional') ? optional : required;
  const physical = physicalType({ type });
  if (physical === PHYSICAL.boolean) return [leaf(name, repetition, physical, [])];
  return [leaf(name, repetition, physical, physical === PHYSICAL.int64 ? TIMESTAMP : TEXT)];
}

function leaf(name: string, repetition: number, physical: number, meaning: ThriftStruct): ThriftValue {
  return { struct: [[1, { i32: physical }], [3, { i32: repetition }], [4, { text: name }], ...meaning] };
}

function group(name: string, repetition: number, meaning: ThriftStruct = []): ThriftValue {
  return { struct: [[3, { i32: repetition }], [4, { text: name }], [5, { i32: 1 }], ...meaning] };
}

export function encodeColumn<Row>(column: ParquetColumn<Row>, rows: readonly Row[]): EncodedColumn {
  switch (column.type) {
    case 'text':
      return { bytes: texts(rows.map(column.of)), count: rows.length };
    case 'optional text':
      return optionals(rows.map(column.of), texts);
    case 'list of texts':
      return lists(rows.map(column.of));
    case 'boolean':
      return { bytes: booleans(rows.map(column.of)), count: rows.length };
    case 'time':
      return { bytes: times(rows.map(column.of)), count: rows.length };
    case 'optional time':
      return optionals(rows.map(column.of), times);
  }
}

function texts(values: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.reduce((sum, value) => sum + 4 + Buffer.byteLength(value), 0));
  let at = 0;
  for (const value of values) {
    const length = bytes.write(value, at + 4);
    bytes.writeUInt32LE(length, at);
    at += 4 + length;
  }
  return bytes;
}

function times(values: readonly Date[]): Buffer {
  const bytes = Buffer.allocUnsafe(8 * values.length);
  values.forEach((value, index) => bytes.writeBigInt64LE(BigInt(value.getTime()), 8 * index));
  return bytes;
}

function booleans(values: readonly boolean[]): Buffer {
  const bytes = Buffer.alloc(Math.ceil(values.length / 8));
  values.forEach((value, index) => {
    if (value) bytes[index >> 3]! |= 1 << (index & 7);
  });
  return bytes;
}

function optionals<T>(values: readonly (T | null)[], encode: (values: readonly T[]) => Buffer): EncodedColumn {
  const present = values.filter((value) => value !== null);
  return {
    bytes: Buffer.concat([levels(values.map((value) => (value === null ? 0 : 1))), encode(present)]),
    count: values.length,
  };
}

/** An empty list is one value whose definition says that it is not there. */
function lists(values: readonly (readonly string[])[]): EncodedColumn {
  const repetitions: number[] = [];
  const definitions: number[] = [];
  for (const value of values) {
    if (value.length === 0) {
      repetitions.push(0);
      definitions.push(0);
    }
    value.forEach((_, index) => {
      repetitions.push(index === 0 ? 0 : 1);
      definitions.push(1);
    });
  }
  return {
    bytes: Buffer.concat([levels(repetitions), levels(definitions), texts(values.flat())]),
    count: repetitions.length,
  };
}

/** Levels of one bit, as runs of equal values after their length in bytes. */
function levels(values: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (let index = 0; index < values.length;) {
    const value = values[index]!;
    let length = 1;
    while (values[index + length] === value) length++;
    index += length;
    let header = length << 1;
    for (; header >= 0x80; header >>>= 7) bytes.push((header & 0x7f) | 0x80);
    bytes.push(header, value);
  }
  const result = Buffer.allocUnsafe(4 + bytes.length);
  result.writeUInt32LE(bytes.length);
  result.set(bytes, 4);
  return result;
}
