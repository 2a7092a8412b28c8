import { describe, expect, test } from 'vitest';
import { IntList } from '../../../../../shared/matching/tables/int-list.ts';

describe('IntList', () => {
  test('appends, reserves and clears', () => {
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
