import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutPieces } from '../../../../shared/kafka/publisher.ts';
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
