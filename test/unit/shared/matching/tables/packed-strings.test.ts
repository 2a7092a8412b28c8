import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAGE_MASK, IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { PackedStrings } from '../../../../../shared/matching/tables/packed-strings.ts';

describe('PackedStrings', () => {
  test('returns each string and all strings, while other lists are added and removed', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    const latin = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((unit) => String.fromCharCode(unit)) });
    const list = fc.array(fc.oneof(text, latin, fc.constant('x'.repeat(300))), { maxLength: 22 });
    fc.assert(
      fc.property(fc.array(fc.record({ list, pick: fc.nat(), removes: fc.boolean() }), { maxLength: 30 }), (steps) => {
        const heap = new IntHeap();
        const packed = new PackedStrings(heap);
        const held: { address: number; strings: string[] }[] = [];
        for (const { list: strings, pick, removes } of steps) {
          if (removes && held.length > 0) packed.remove(held.splice(pick % held.length, 1)[0]?.address ?? 0);
          else held.push({ address: packed.add(strings), strings });
          for (const { address, strings: expected } of held) {
            expect(packed.all(address)).toEqual(expected);
            expect(expected.map((_, number) => packed.get(address, number))).toEqual(expected);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('uses one byte per unit where possible, and reuses freed memory', () => {
    const heap = new IntHeap();
    const packed = new PackedStrings(heap);
    const bytesFor = (character: string): number => {
      const strings = Array.from({ length: 5_000 }, () => character.repeat(100));
      const before = heap.bytes;
      const address = packed.add(strings);
      expect(packed.get(address, 4_999)).toBe(character.repeat(100));
      const after = heap.bytes;
      packed.remove(address);
      for (let again = 0; again < 10; again++) packed.remove(packed.add(strings));
      expect(heap.bytes).toBe(after);
      return after - before;
    };
    expect(Math.abs(bytesFor('\xff') - 5_000 * 102)).toBeLessThan(4 * (PAGE_MASK + 1));
    expect(Math.abs(bytesFor('\u0100') - 5_000 * 204)).toBeLessThan(4 * (PAGE_MASK + 1));
  });
});
