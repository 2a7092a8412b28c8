import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutPieces, layOutRequests } from '../../../../shared/kafka/publisher.ts';
import type { SizedRecord } from '../../../../shared/kafka/publisher.ts';

const record = (bytes: number): SizedRecord => ({ key: 'k', message: { key: 'k', value: null }, bytes });
const sizes = fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 60 });

test('pieces keep the order, contain every record and stay below the limit', () => {
  fc.assert(
    fc.property(sizes, (bytes) => {
      const records = bytes.map(record);
      const pieces = cutPieces('t', records, 100);
      expect(pieces.flatMap((piece) => piece.records)).toEqual(records);
      for (const piece of pieces) {
        expect(piece.bytes).toBe(piece.records.reduce((sum, one) => sum + one.bytes, 0));
        if (piece.records.length > 1) expect(piece.bytes).toBeLessThanOrEqual(100);
      }
    }),
  );
});

test('a request has at most one piece per partition, and each partition keeps its order', () => {
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 6 }), (partitions) => {
      const cut = partitions.map((bytes, i) => cutPieces(String(i), bytes.map(record), 100));
      const requests = layOutRequests(cut, 250);
      for (const request of requests) {
        expect(request.length).toBeGreaterThan(0);
        expect(new Set(request.map(({ topic }) => topic)).size).toBe(request.length);
        if (request.length > 1) expect(request.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(250);
      }
      const sent = requests.flat();
      for (const [i, pieces] of cut.entries()) expect(sent.filter(({ topic }) => topic === String(i))).toEqual(pieces);
    }),
  );
});
