import { expect, test } from 'vitest';
import { isPackPrice, planOf } from '../../../../../shared/domain/accounts/plans.ts';

test.each([
  [0, 'free', 1, 200, 1, 1, 100],
  [9, 'pack_9', 10, 1_000, 5, 10, null],
  [29, 'pack_29', 50, 1_000, 10, 20, null],
  [79, 'pack_79', 100, 1_000, 20, 40, null],
])('a $%i pack sets the limits of %s', (price, name, monitors, cap, perSecond, burst, perDay) => {
  expect(planOf(price)).toMatchObject({
    name,
    monitors,
    dailyMatchCap: cap,
    requestsPerSecond: perSecond,
    burst,
    requestsPerDay: perDay,
  });
});

test('there is no other pack', () => {
  expect([1, 10, 80, -9, Number.NaN].map(isPackPrice)).toEqual([false, false, false, false, false]);
  expect(() => planOf(10)).toThrow(RangeError);
});
