/** A value of Thrift's compact protocol, as far as the metadata of Parquet needs it. */
export type ThriftValue =
  | { i32: number }
  | { i64: number }
  | { bool: boolean }
  | { text: string }
  | { struct: ThriftStruct }
  | { list: readonly ThriftValue[] };

/** The fields of a struct: number and value, by ascending numbers. */
export type ThriftStruct = readonly (readonly [id: number, value: ThriftValue])[];

// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const TYPES = { true: 1, false: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Encodes a struct in Thrift's compact protocol. */
export function thriftBytes(struct: ThriftStruct): Buffer {
  const bytes: number[] = [];
  writeStruct(bytes, struct);
  return Buffer.from(bytes);
}

function writeStruct(bytes: number[], struct: ThriftStruct): void {
  let last = 0;
  for (const [id, value] of struct) {
    const type = typeOf(value);
    const step = id - last;
    if (step > 0 && step <= 15) bytes.push((step << 4) | type);
    else {
      bytes.push(type);
      writeVarint(bytes, zigzag(id));
    }
    last = id;
    // The type of a boolean field is its value.
    if (!('bool' in value)) writeValue(bytes, value);
  }
  bytes.push(0);
}

function writeValue(bytes: number[], value: ThriftValue): void {
  if ('i32' in value) writeVarint(bytes, zigzag(value.i32));
  else if ('i64' in value) writeVarint(bytes, zigzag(value.i64));
  else if ('text' in value) {
    const text = Buffer.from(value.text);
    writeVarint(bytes, BigInt(text.length));
    bytes.push(...text);
  } else if ('struct' in value) writeStruct(bytes, value.struct);
  else if ('list' in value) writeList(bytes, value.list);
  else throw new Error('a list of booleans is not supported');
}

/** An empty list is one of structs, which readers of Parquet do not look at. */
function writeList(bytes: number[], list: readonly ThriftValue[]): void {
  const type = list[0] === undefined ? TYPES.struct : typeOf(list[0]);
  if (list.length < 15) bytes.push((list.length << 4) | type);
  else {
    bytes.push(0xf0 | type);
    writeVarint(bytes, BigInt(list.length));
  }
  for (const value of list) writeValue(bytes, value);
}

function typeOf(value: ThriftValue): number {
  if ('bool' in value) return value.bool ? TYPES.true : TYPES.false;
  if ('i32' in value) return TYPES.i32;
  if ('i64' in value) return TYPES.i64;
  if ('text' in value) return TYPES.binary;
  return 'struct' in value ? TYPES.struct : TYPES.list;
}

function zigzag(value: number): bigint {
  const big = BigInt(value);
  return big < 0n ? -2n * big - 1n : 2n * big;
}

function writeVarint(bytes: number[], value: bigint): void {
  let left = value;
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  bytes.push(Number(left));
}
