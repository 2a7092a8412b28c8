import fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditsToTakeBack, PACKS_FOR_SALE } from '../../../../../shared/billing/rules/plans.ts';

const UNTOUCHED = { charged: null, refunded: 0, isDisputed: false };

test.each([
  ['nothing is known', UNTOUCHED, 0],
  ['a third was refunded', { charged: 900, refunded: 300, isDisputed: false }, 1_666],
  ['all but a cent was refunded', { charged: 900, refunded: 899, isDisputed: false }, 4_994],
  ['all was refunded', { charged: 900, refunded: 900, isDisputed: false }, 5_000],
  ['more than all was refunded', { charged: 900, refunded: 1_000, isDisputed: false }, 5_000],
  ['the price was refunded without its tax', { charged: 1_071, refunded: 900, isDisputed: false }, 4_201],
  ['it is disputed', { ...UNTOUCHED, isDisputed: true }, 5_000],
  ['a part was refunded and it is disputed', { charged: 900, refunded: 10, isDisputed: true }, 5_000],
])('of 5,000 credits, when %s', (_name, money, expected) => {
  expect(creditsToTakeBack(5_000, money)).toBe(expected);
});

test('never more than was given, never less for more money, and exact for every whole refund', () => {
  const pack = fc.constantFrom(...PACKS_FOR_SALE);
  fc.assert(
    fc.property(pack, fc.nat(20_000), fc.nat(20_000), fc.nat(30), ({ credits, amount }, a, b, tax) => {
      const charged = amount + Math.floor((amount * tax) / 100);
      const take = (refunded: number) => creditsToTakeBack(credits, { charged, refunded, isDisputed: false });
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      expect(take(less)).toBeGreaterThanOrEqual(0);
      expect(take(less)).toBeLessThanOrEqual(take(more));
      expect(take(more)).toBeLessThanOrEqual(credits);
      expect(take(charged)).toBe(credits);
      if (less < charged) expect(BigInt(take(less))).toBe((BigInt(credits) * BigInt(less)) / BigInt(charged));
    }),
  );
});
