import { expect, test } from 'vitest';
import { packForSale, PACKS_FOR_SALE, isPackPrice, planOf } from '../../../../../shared/billing/rules/plans.ts';

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

test('the packs that are sold, with amounts in cents', () => {
  expect(PACKS_FOR_SALE).toEqual([
    { pack: 9, amount: 900, currency: 'usd', credits: 5_000 },
    { pack: 29, amount: 2_900, currency: 'usd', credits: 20_000 },
    { pack: 79, amount: 7_900, currency: 'usd', credits: 70_000 },
  ]);
});

test('a pack is found by exactly its price', () => {
  expect(packForSale('29')?.credits).toBe(20_000);
  for (const price of ['', '0', '9.0', ' 9', '09', '290', 'constructor']) expect(packForSale(price)).toBeUndefined();
});
