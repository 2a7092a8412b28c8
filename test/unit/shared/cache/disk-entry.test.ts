import { describe, expect, test } from 'vitest';
import {
  decodeEntry,
  encodeEntry,
  expiryKey,
  expiryOf,
  hashOfExpiryKey,
  hashOfKey,
  occupiedBytes,
} from '../../../../shared/cache/disk-entry.ts';

const ENTRY = { value: Buffer.from('value'), storedAtMs: 1_790_000_000_000, expiresAtMs: 1_790_000_060_000 };

describe('an encoded entry', () => {
  test('decodes to the same entry', () => {
    expect(decodeEntry(encodeEntry(ENTRY))).toEqual(ENTRY);
    expect(expiryOf(encodeEntry(ENTRY))).toBe(ENTRY.expiresAtMs);
  });

  test('does not decode when a byte changed or the end is missing', () => {
    const data = encodeEntry(ENTRY);
    for (let index = 0; index < data.length; index++) {
      const damaged = Buffer.from(data);
      damaged[index]! ^= 1;
      expect(decodeEntry(damaged)).toBeUndefined();
      expect(decodeEntry(data.subarray(0, index))).toBeUndefined();
    }
  });
});

test('expiry keys sort by time and contain the hash of the key', () => {
  const hash = hashOfKey('post/1');
  const keys = [0, 255, 256, 2 ** 32, 2 ** 48 - 1].map((expiresAtMs) => expiryKey(expiresAtMs, hash));
  expect([...keys].sort((a, b) => a.compare(b))).toEqual(keys);
  expect(expiryKey(256).compare(keys[2]!)).toBe(-1);
  expect(hashOfExpiryKey(keys[0]!)).toEqual(hash);
});

test('keys with different lone surrogates have different hashes', () => {
  expect(hashOfKey('\ud800')).not.toEqual(hashOfKey('\ud801'));
});

test('a large entry occupies whole pages', () => {
  expect(occupiedBytes(1_900)).toBe(2_100);
  expect(occupiedBytes(1_901)).toBe(4_096 + 200);
  expect(occupiedBytes(4_096)).toBe(2 * 4_096 + 200);
});
