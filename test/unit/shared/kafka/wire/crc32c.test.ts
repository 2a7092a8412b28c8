import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from '../../../../../shared/kafka/wire/crc32c.ts';

const theirs = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/crc32C/index.js') as (
  bytes: Uint8Array,
) => number;

test('the check value of CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'), 0, 9)).toBe(0xe3069283);
});

test('any part of any bytes has the same checksum as in kafkajs', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), fc.nat(100), (bytes, one, other) => {
      const [from, to] = [one, other].map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b) as [number, number];
      expect(crc32c(bytes, from, to)).toBe(theirs(bytes.subarray(from, to)));
    }),
    { numRuns: 1_000 },
  );
});
