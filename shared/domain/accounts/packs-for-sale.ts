import { planOf } from './plans.ts';

/** Price in dollars, which also names a pack. */
export type SoldPack = 9 | 29 | 79;

export interface PackForSale {
  pack: SoldPack;
  /** In cents, before tax. */
  amount: number;
  /** ISO 4217 in lower case. */
  currency: 'usd';
  credits: number;
}

/** The packs that are sold, cheapest first. */
export const PACKS_FOR_SALE: readonly PackForSale[] = ([9, 29, 79] as const).map((pack) => ({
  pack,
  amount: pack * 100,
  currency: 'usd',
  credits: planOf(pack).credits,
}));

/** The pack that a form or a setting names by its price; undefined when none is sold at it. */
export function packForSale(price: string): PackForSale | undefined {
  return PACKS_FOR_SALE.find(({ pack }) => String(pack) === price);
}
