import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAGE_MASK, IntHeap } from '../../../../../shared/matching/terms/int-list.ts';

describe('IntHeap', () => {
  test('blocks never overlap, are 0 when allocated, keep their values, and are within one page', () => {
    const step = fc.record({ size: fc.constantFrom(3, 4, 10, 64, 100, 1000), frees: fc.boolean(), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const heap = new IntHeap();
        const blocks: { address: number; size: number; seed: number }[] = [];
        let seed = 0;
        for (const { size, frees, pick } of steps) {
          if (frees && blocks.length > 0) {
            const [freed] = blocks.splice(pick % blocks.length, 1);
            if (freed !== undefined) heap.free(freed.address, freed.size);
            continue;
          }
          const address = heap.allocate(size);
          expect(address).toBeGreaterThan(0);
          expect((address & PAGE_MASK) + size).toBeLessThanOrEqual(PAGE_MASK + 1);
          seed += 1000;
          for (let offset = 0; offset < size; offset++) {
            if (heap.get(address + offset) !== 0) expect.fail('a block has something in it');
            heap.set(address + offset, seed + offset);
          }
          blocks.push({ address, size, seed });
        }
        for (const block of blocks) {
          for (let offset = 0; offset < block.size; offset++) {
            if (heap.get(block.address + offset) !== block.seed + offset) expect.fail('a block has changed');
          }
          expect(heap.pageOf(block.address)[block.address & PAGE_MASK]).toBe(block.seed);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("heaps that share an address space read each other's blocks and never allocate the same block", () => {
    const one = new IntHeap();
    const other = new IntHeap(one);
    const blocks: { address: number; size: number; by: IntHeap }[] = [];
    for (const size of [10, 300, 1000, PAGE_MASK, 50_000, 7, 300, 20_000, 20_000]) {
      for (const by of [one, other]) blocks.push({ address: by.allocate(size), size, by });
    }
    for (const [number, { address, size }] of blocks.entries()) {
      for (let offset = 0; offset < size; offset++) one.set(address + offset, 1 + number);
    }
    for (const [number, { address, size, by }] of blocks.entries()) {
      for (const offset of [0, 1, size - 1]) {
        expect([one.get(address + offset), other.get(address + offset)]).toEqual([1 + number, 1 + number]);
      }
      if (size <= PAGE_MASK + 1) expect((address & PAGE_MASK) + size).toBeLessThanOrEqual(PAGE_MASK + 1);
      by.free(address, size);
      expect(by.allocate(size)).toBe(address);
    }
    expect(one.bytes).toBe(other.bytes);
    // A heap reuses only the blocks that were freed to it.
    const freed = one.allocate(33);
    one.free(freed, 33);
    expect(other.allocate(33)).not.toBe(freed);
    expect(one.allocate(33)).toBe(freed);
  });
});
