import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The file format. Any change of it, or of the databases of DiskStore, must raise LAYOUT; every cache then starts empty
 * once.
 *
 * - An entry: storedAtMs (6 bytes), expiresAtMs (6), CRC-32 of these and the value (4), the value.
 * - Its key: SHA-256 of the key's UTF-16 code units. So keys may have any length and any characters (LMDB allows 1,978
 *   bytes), all cost the same, and nobody can choose two keys that collide.
 * - Its record in the order of expiry: expiresAtMs and the hash as key, the bytes that the entry occupies (4) as value.
 *
 * Numbers are unsigned and big-endian, so that they sort.
 */
export const LAYOUT = 1;

const TIME_BYTES = 6;
const MAX_TIME_MS = 2 ** 48 - 1;
const CRC_OFFSET = 2 * TIME_BYTES;
const HEADER_BYTES = CRC_OFFSET + 4;

const PAGE_BYTES = 4096;
/** Larger values are stored in pages of their own, whose first 24 bytes are a header. */
const MAX_LEAF_BYTES = 1900;
const PAGE_HEADER_BYTES = 24;
/** Both keys, the record of expiry, and the slack of half-filled leaves. */
const RECORDS_BYTES = 200;

export interface DiskEntry {
  value: Buffer;
  storedAtMs: number;
  expiresAtMs: number;
}

export function hashOfKey(key: string): Buffer {
  // In UTF-8 all lone surrogates would become the same character.
  return hash('sha256', Buffer.from(key, 'utf16le'), 'buffer');
}

export function encodeEntry({ value, storedAtMs, expiresAtMs }: DiskEntry): Buffer {
  const data = Buffer.allocUnsafe(HEADER_BYTES + value.length);
  data.writeUIntBE(toTime(storedAtMs), 0, TIME_BYTES);
  data.writeUIntBE(toTime(expiresAtMs), TIME_BYTES, TIME_BYTES);
  value.copy(data, HEADER_BYTES);
  data.writeUInt32BE(checksum(data), CRC_OFFSET);
  return data;
}

/** Decodes an entry; undefined when the bytes are not as they were written. */
export function decodeEntry(data: Buffer): DiskEntry | undefined {
  if (data.length < HEADER_BYTES || data.readUInt32BE(CRC_OFFSET) !== checksum(data)) return undefined;
  return {
    value: data.subarray(HEADER_BYTES),
    storedAtMs: data.readUIntBE(0, TIME_BYTES),
    expiresAtMs: expiryOf(data),
  };
}

export function expiryOf(data: Buffer): number {
  return data.readUIntBE(TIME_BYTES, TIME_BYTES);
}

/** The key of an entry in the order of expiry. Without a hash: a key before all entries that expire at that time. */
export function expiryKey(expiresAtMs: number, keyHash: Buffer = Buffer.alloc(0)): Buffer {
  const key = Buffer.allocUnsafe(TIME_BYTES + keyHash.length);
  key.writeUIntBE(toTime(expiresAtMs), 0, TIME_BYTES);
  keyHash.copy(key, TIME_BYTES);
  return key;
}

export function hashOfExpiryKey(key: Buffer): Buffer {
  return key.subarray(TIME_BYTES);
}

/**
 * The bytes that an entry of this length occupies in the file: whole pages when it is large, as LMDB stores it. So the
 * sum over the entries is close to the file's size.
 */
export function occupiedBytes(entryLength: number): number {
  if (entryLength <= MAX_LEAF_BYTES) return entryLength + RECORDS_BYTES;
  return Math.ceil((entryLength + PAGE_HEADER_BYTES) / PAGE_BYTES) * PAGE_BYTES + RECORDS_BYTES;
}

function checksum(data: Buffer): number {
  return crc32(data.subarray(HEADER_BYTES), crc32(data.subarray(0, CRC_OFFSET)));
}

function toTime(ms: number): number {
  return Math.min(MAX_TIME_MS, Math.max(0, Math.floor(ms)));
}
