import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeHolds,
  FoundTerms,
  postings,
  setPostings,
  TERM_SIZE,
} from '../../../../../shared/matching/terms/found-terms.ts';
import { IN_PAGE, IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { IntList } from '../../../../../shared/matching/tables/int-list.ts';
import { PackedStrings } from '../../../../../shared/matching/tables/packed-strings.ts';

describe('IntHeap', () => {
  test('blocks never overlap, are 0 when given out, keep what is set, and lie in one page', () => {
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
          expect((address & IN_PAGE) + size).toBeLessThanOrEqual(IN_PAGE + 1);
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
          expect(heap.pageOf(block.address)[block.address & IN_PAGE]).toBe(block.seed);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('gives a freed block out again, to one of its size only', () => {
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
    // The first page stays as short as it was, the others are whole.
    expect(heap.bytes).toBe(2048 + 4 * 4 * (IN_PAGE + 1));
    const next = heap.allocate(10);
    expect(next).toBeGreaterThanOrEqual(large + 100_000);
    heap.set(next, 5);
    expect(heap.get(large + 99_999)).toBe(100_000);
  });

  test('a page is filled to its end', () => {
    const heap = new IntHeap();
    const rest = IN_PAGE + 1 - 1 - 1000;
    expect(heap.allocate(rest)).toBe(1);
    expect(heap.allocate(1000)).toBe(1 + rest);
    expect(heap.bytes).toBe(4 * (IN_PAGE + 1));
    expect(heap.allocate(1)).toBe(IN_PAGE + 1);
    expect(heap.bytes).toBe(8 * (IN_PAGE + 1));
    expect(heap.allocate(IN_PAGE + 1)).toBe(2 * (IN_PAGE + 1));
  });

  test('heaps that share their addresses read what each other gave out, and never give out the same', () => {
    const one = new IntHeap();
    const other = new IntHeap(one);
    const blocks: { address: number; size: number; by: IntHeap }[] = [];
    for (const size of [10, 300, 1000, IN_PAGE, 50_000, 7, 300, 20_000, 20_000]) {
      for (const by of [one, other]) blocks.push({ address: by.allocate(size), size, by });
    }
    for (const [number, { address, size }] of blocks.entries()) {
      for (let offset = 0; offset < size; offset++) one.set(address + offset, 1 + number);
    }
    for (const [number, { address, size, by }] of blocks.entries()) {
      for (const offset of [0, 1, size - 1]) {
        expect([one.get(address + offset), other.get(address + offset)]).toEqual([1 + number, 1 + number]);
      }
      if (size <= IN_PAGE + 1) expect((address & IN_PAGE) + size).toBeLessThanOrEqual(IN_PAGE + 1);
      by.free(address, size);
      expect(by.allocate(size)).toBe(address);
    }
    expect(one.bytes).toBe(other.bytes);
    // What one of them was given back it gives out itself.
    const freed = one.allocate(33);
    one.free(freed, 33);
    expect(other.allocate(33)).not.toBe(freed);
    expect(one.allocate(33)).toBe(freed);
  });

  test('what lies beyond is 0 and takes nothing', () => {
    const heap = new IntHeap();
    heap.set(1e6, 5);
    expect(heap.get(1e6)).toBe(0);
    expect(heap.pageOf(1e6)).toHaveLength(0);
  });
});

describe('PackedStrings', () => {
  test('gives back each string and all of them, whatever they hold, while others come and go', () => {
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
      { numRuns: 100 },
    );
  });

  test('takes one byte for a unit where that is enough, and memory that was given back', () => {
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
    expect(Math.abs(bytesFor('\xff') - 5_000 * 102)).toBeLessThan(4 * (IN_PAGE + 1));
    expect(Math.abs(bytesFor('\u0100') - 5_000 * 204)).toBeLessThan(4 * (IN_PAGE + 1));
  });
});

describe('IntList', () => {
  test('is a list', () => {
    const list = new IntList();
    for (let value = 0; value < 1000; value++) list.push(value * 3);
    expect(list.length).toBe(1000);
    expect(Array.from(list.items.subarray(0, 1000))).toEqual(Array.from({ length: 1000 }, (_, value) => value * 3));
    const { items } = list;
    list.reserve(1000);
    expect(list.items).toBe(items);
    list.reserve(items.length + 1);
    expect(list.items.length).toBeGreaterThanOrEqual(2 * items.length);
    expect(list.items[999]).toBe(2997);
    list.clear();
    expect(list.length).toBe(0);
    list.push(-1);
    expect([list.length, list.items[0]]).toEqual([1, -1]);
    list.reserve(1e5);
    expect(list.items).toHaveLength(1e5);
  });
});

describe('FoundTerms', () => {
  test('is a set that keeps the first occurrence, empty again after clear', () => {
    const heap = new IntHeap();
    const terms = Array.from({ length: 20 }, () => heap.allocate(TERM_SIZE));
    const found = new FoundTerms(heap);
    const pick = fc.record({ term: fc.nat(19), field: fc.constantFrom(0, 1), start: fc.nat(99), clears: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(pick, { maxLength: 60 }), (picks) => {
        found.clear();
        const model = new Map<number, number[]>();
        for (const { term: number, field, start, clears } of picks) {
          if (clears === 0) {
            found.clear();
            model.clear();
          }
          const term = terms[number] ?? 0;
          found.add(term, field, start, start + 5);
          if (!model.has(term)) model.set(term, [field, start, start + 5]);
          for (const each of terms) {
            expect(found.has(each)).toBe(model.has(each));
            const at = found.indexOf(each);
            expect(at < 0 ? undefined : [found.fields, found.starts, found.ends].map((list) => list.items[at])).toEqual(
              model.get(each),
            );
          }
          expect(Array.from(found.terms.items.subarray(0, found.terms.length))).toEqual([...model.keys()]);
          expect([found.fields.length, found.starts.length, found.ends.length]).toEqual([
            model.size,
            model.size,
            model.size,
          ]);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a record holds its postings and holds apart', () => {
    const heap = new IntHeap();
    const [term, other] = [heap.allocate(TERM_SIZE), heap.allocate(TERM_SIZE)];
    setPostings(heap, term, 77);
    expect(changeHolds(heap, term, 1)).toBe(1);
    expect(changeHolds(heap, term, 1)).toBe(2);
    expect(changeHolds(heap, term, -1)).toBe(1);
    expect([postings(heap, term), postings(heap, other)]).toEqual([77, 0]);
  });
});
