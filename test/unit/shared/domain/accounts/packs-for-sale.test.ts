import { expect, test } from 'vitest';
import { PACKS_FOR_SALE, packForSale } from '../../../../../shared/domain/accounts/packs-for-sale.ts';

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
