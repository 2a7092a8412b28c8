import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberSet, NumberTable } from '../../../../shared/cache/number-tables.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;
const number = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  // They differ in the upper bits alone, or are neighbours.
  fc.integer({ min: 0, max: 40 }).map((high) => 7 + high * 2 ** 32),
  fc.maxSafeInteger().map((any) => Math.max(1, Math.abs(any))),
  fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 48, LARGEST),
);

test('a table holds what a Map holds', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, fc.integer({ min: 0, max: 2 ** 31 - 1 })), { maxLength: 100 }), (entries) => {
      const table = new NumberTable(100);
      for (const [key, value] of entries) table.set(key, value);
      const map = new Map(entries);
      for (const [key, value] of map) expect(table.get(key)).toBe(value);
      for (const other of [3, 41, LARGEST - 1].filter((key) => !map.has(key))) expect(table.get(other)).toBeUndefined();
    }),
  );
});

test('a set holds what a Set holds, however often it is emptied', () => {
  const set = new NumberSet(60);
  fc.assert(
    fc.property(fc.array(number, { maxLength: 60 }), (keys) => {
      set.clear();
      const expected = new Set<number>();
      for (const key of keys) {
        expect(set.has(key)).toBe(expected.has(key));
        expect(set.add(key)).toBe(!expected.has(key));
        expected.add(key);
        expect(set.size).toBe(expected.size);
      }
    }),
  );
});

test('a set is empty after the last round that its numbers of rounds can tell', () => {
  const set = new NumberSet(4);
  set.add(5);
  Object.assign(set, { round: 0xffffffff });
  set.add(6);
  set.clear();
  expect([set.add(5), set.add(6), set.add(6), set.size]).toEqual([true, true, false, 2]);
});

test('full to its limit, both find a number in few steps', () => {
  const table = new NumberTable(50_000);
  for (let key = 1; key <= 50_000; key += 1) table.set(key * 256 + 32, key);
  for (let key = 1; key <= 50_000; key += 1) expect(table.get(key * 256 + 32)).toBe(key);
  expect(table.get(50_001 * 256 + 32)).toBeUndefined();
});
