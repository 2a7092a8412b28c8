import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAGE_MASK, IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';

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

  test('reuses a freed block only for the same size', () => {
    const heap = new IntHeap();
    const [one, other] = [heap.allocate(4), heap.allocate(4)];
    heap.set(one, 7);
    heap.set(one + 3, 7);
    heap.free(one, 4);
    heap.free(other, 4);
    expect(heap.allocate(5)).toBeGreaterThan(other);
    expect([heap.allocate(4), heap.allocate(4)]).toEqual([other, one]);
    expect([0, 1, 2, 3].map((offset) => heap.get(one + offset))).toEqual([0, 0, 0, 0]);
    expect(heap.allocate(4)).toBeGreaterThan(other);
  });

  test('starts small, grows by pages, and takes blocks larger than a page', () => {
    const heap = new IntHeap();
    expect(heap.bytes).toBe(1024);
    heap.allocate(200);
    expect(heap.bytes).toBe(1024);
    heap.allocate(200);
    expect(heap.bytes).toBe(2048);
    const large = heap.allocate(100_000);
    for (const offset of [0, 1, 40_000, 99_999]) heap.set(large + offset, offset + 1);
    expect([0, 1, 40_000, 99_999].map((offset) => heap.get(large + offset))).toEqual([1, 2, 40_001, 100_000]);
    // The first page keeps its short length, the others are whole.
    expect(heap.bytes).toBe(2048 + 4 * 4 * (PAGE_MASK + 1));
    const next = heap.allocate(10);
    expect(next).toBeGreaterThanOrEqual(large + 100_000);
    heap.set(next, 5);
    expect(heap.get(large + 99_999)).toBe(100_000);
  });

  test('pages that are cut from larger memory are apart, and count when they are used', () => {
    const heap = new IntHeap();
    const pages = Array.from({ length: 200 }, () => heap.allocate(PAGE_MASK + 1));
    const ends = (page: number): number[] => [page, page + PAGE_MASK];
    for (const end of pages.flatMap(ends)) heap.set(end, end);
    expect(pages.flatMap(ends).map((end) => heap.get(end))).toEqual(pages.flatMap(ends));
    expect(heap.bytes).toBe(1024 + 200 * 4 * (PAGE_MASK + 1));
  });

  test('fills a page to its end', () => {
    const heap = new IntHeap();
    const remainder = PAGE_MASK + 1 - 1 - 1000;
    expect(heap.allocate(remainder)).toBe(1);
    expect(heap.allocate(1000)).toBe(1 + remainder);
    expect(heap.bytes).toBe(4 * (PAGE_MASK + 1));
    expect(heap.allocate(1)).toBe(PAGE_MASK + 1);
    expect(heap.bytes).toBe(8 * (PAGE_MASK + 1));
    expect(heap.allocate(PAGE_MASK + 1)).toBe(2 * (PAGE_MASK + 1));
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

  test('an address beyond all pages reads as 0 and ignores writes', () => {
    const heap = new IntHeap();
    heap.set(1e6, 5);
    expect(heap.get(1e6)).toBe(0);
    expect(heap.pageOf(1e6)).toHaveLength(0);
  });
});
