import type { IHeaders, Message } from 'kafkajs';
import { crc32c } from './crc32c.ts';

/** The records of one partition in a produce request. */
export interface RecordBatch {
  /** At least one, none with a time of its own. */
  messages: readonly Message[];
  /** Milliseconds since 1970. */
  timestampMs: number;
  producerId: bigint;
  producerEpoch: number;
  /** The number of the first record in the producer's sequence for the partition. */
  firstSequence: number;
}

const MAGIC = 2;
/** From the first offset to the number of records. */
const HEADER_BYTES = 61;
/** What the length of a batch does not count: the first offset and the length itself. */
const UNCOUNTED_BYTES = 12;
const CRC_AT = 17;
/** The checksum covers everything from here on. */
const ATTRIBUTES_AT = 21;

/**
 * Encodes records as one uncompressed batch of Kafka's message format 2, without transaction, in one buffer of exactly
 * its size. kafkajs makes a zeroed buffer for each record and copies it four times (`bench -- pipeline`).
 *
 * @throws Error when a text has changed its length, which cannot happen
 */
export function encodeRecords(batch: RecordBatch): Buffer {
  const { messages } = batch;
  const bodies = new Int32Array(messages.length);
  let size = HEADER_BYTES;
  for (const [index, message] of messages.entries()) {
    const body = bodyBytes(message, index);
    bodies[index] = body;
    size += varintBytes(body) + body;
  }
  const bytes = Buffer.allocUnsafeSlow(size);
  writeHeader(bytes, batch);
  let at = HEADER_BYTES;
  for (const [index, message] of messages.entries()) at = writeRecord(bytes, at, message, index, bodies[index]!);
  if (at !== size) throw new Error(`a record batch has ${at} bytes instead of ${size}`);
  bytes.writeUInt32BE(crc32c(bytes, ATTRIBUTES_AT, size), CRC_AT);
  return bytes;
}

function writeHeader(bytes: Buffer, { messages, timestampMs, producerId, producerEpoch, firstSequence }: RecordBatch) {
  bytes.writeBigInt64BE(0n, 0);
  bytes.writeInt32BE(bytes.length - UNCOUNTED_BYTES, 8);
  // The epoch of the partition's leader, which the broker sets.
  bytes.writeInt32BE(0, 12);
  bytes.writeInt8(MAGIC, 16);
  // No codec, no transaction; the time is the producer's unless the topic says otherwise.
  bytes.writeInt16BE(0, ATTRIBUTES_AT);
  bytes.writeInt32BE(messages.length - 1, 23);
  bytes.writeBigInt64BE(BigInt(timestampMs), 27);
  bytes.writeBigInt64BE(BigInt(timestampMs), 35);
  bytes.writeBigInt64BE(producerId, 43);
  bytes.writeInt16BE(producerEpoch, 51);
  bytes.writeInt32BE(firstSequence, 53);
  bytes.writeInt32BE(messages.length, 57);
}

/** The length of a record without its own length. */
function bodyBytes({ key, value, headers }: Message, index: number): number {
  // Attributes and the time after the batch's are a byte each.
  return 2 + varintBytes(index) + fieldBytes(key) + fieldBytes(value) + headersBytes(headers);
}

function writeRecord(bytes: Buffer, start: number, message: Message, index: number, body: number): number {
  let at = writeVarint(bytes, start, body);
  bytes[at++] = 0;
  bytes[at++] = 0;
  at = writeVarint(bytes, at, index);
  at = writeField(bytes, at, message.key);
  at = writeField(bytes, at, message.value);
  return writeHeaders(bytes, at, message.headers);
}

type Field = Buffer | string | null | undefined;

function lengthOf(field: Buffer | string): number {
  return typeof field === 'string' ? Buffer.byteLength(field) : field.length;
}

function fieldBytes(field: Field): number {
  if (field === null || field === undefined) return varintBytes(-1);
  const length = lengthOf(field);
  return varintBytes(length) + length;
}

function writeField(bytes: Buffer, start: number, field: Field): number {
  if (field === null || field === undefined) return writeVarint(bytes, start, -1);
  const length = lengthOf(field);
  const at = writeVarint(bytes, start, length);
  if (typeof field === 'string') return at + bytes.write(field, at, length);
  bytes.set(field, at);
  return at + length;
}

/** Name and value of each header; one with several values counts several times. */
function headerPairs(headers: IHeaders): [string, Field][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, Field] => [name, one]),
  );
}

function headersBytes(headers: IHeaders | undefined): number {
  if (headers === undefined) return 1;
  const pairs = headerPairs(headers);
  return pairs.reduce((sum, [name, value]) => sum + fieldBytes(name) + fieldBytes(value), varintBytes(pairs.length));
}

function writeHeaders(bytes: Buffer, start: number, headers: IHeaders | undefined): number {
  const pairs = headers === undefined ? [] : headerPairs(headers);
  let at = writeVarint(bytes, start, pairs.length);
  for (const [name, value] of pairs) at = writeField(bytes, writeField(bytes, at, name), value);
  return at;
}

/** Small negative numbers take one byte like small positive ones. */
function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = zigzag(value); rest > 0x7f; rest >>>= 7) bytes++;
  return bytes;
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = zigzag(value);
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
