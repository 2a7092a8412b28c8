import { expect, test } from 'vitest';
import { RefusedNames } from '../../../../../services/crawler/groups/group-polling.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

test('leaves a name out for a day', () => {
  const names = new RefusedNames();
  names.add('backroom', 0);
  expect([names.has('backroom', DAY - 1), names.has('backroom', DAY), names.has('tea', 0)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('blames no name for ten minutes when three were refused within one', () => {
  const names = new RefusedNames();
  names.add('old', -2 * MINUTE);
  names.add('a', 0);
  names.add('b', 1_000);
  expect(names.isTooMany(2_000)).toBe(false);
  names.add('c', 2_000);
  expect(names.isTooMany(3_000)).toBe(true);
  expect(['a', 'b', 'c', 'old'].map((name) => names.has(name, 3_000))).toEqual([false, false, false, true]);
  expect(names.isTooMany(10 * MINUTE)).toBe(true);
  expect(names.isTooMany(11 * MINUTE)).toBe(false);
});
