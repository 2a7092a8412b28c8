/** Price in dollars of the largest pack that an account bought; 0 when none. */
export type Pack = 0 | 9 | 29 | 79;

/** The limits of an account, decided by its largest pack. */
export interface Plan {
  name: 'free' | 'pack_9' | 'pack_29' | 'pack_79';
  /** Credits that come with the pack. */
  credits: number;
  /** Monitors that are not deleted, active or paused. */
  monitors: number;
  /** Delivered matches per monitor and UTC day; later ones are recorded as suppressed. */
  dailyMatchCap: number;
  requestsPerSecond: number;
  burst: number;
  /** Per UTC day; null for no limit. */
  requestsPerDay: number | null;
}

const FREE = { dailyMatchCap: 200, requestsPerDay: 100 };
const PAID = { dailyMatchCap: 1_000, requestsPerDay: null };

const PLANS: Readonly<Record<Pack, Plan>> = {
  0: { ...FREE, name: 'free', credits: 0, monitors: 1, requestsPerSecond: 1, burst: 1 },
  9: { ...PAID, name: 'pack_9', credits: 5_000, monitors: 10, requestsPerSecond: 5, burst: 10 },
  29: { ...PAID, name: 'pack_29', credits: 20_000, monitors: 50, requestsPerSecond: 10, burst: 20 },
  79: { ...PAID, name: 'pack_79', credits: 70_000, monitors: 100, requestsPerSecond: 20, burst: 40 },
};

/**
 * How many matches of a monitor are delivered per UTC day; later ones are suppressed.
 *
 * @param pack price in dollars of the account's largest pack; 0 when none
 */
export function dailyMatchCap(pack: number): number {
  return (pack > 0 ? PAID : FREE).dailyMatchCap;
}

/** Whether packs of this price are sold. 0 is accepted and means no pack. */
export function isPackPrice(price: number): price is Pack {
  return Object.hasOwn(PLANS, price);
}

/** @throws RangeError when no pack has this price */
export function planOf(price: number): Plan {
  if (!isPackPrice(price)) throw new RangeError(`no pack costs $${price}`);
  return PLANS[price];
}

/** All plans by the price of their pack. */
export function allPlans(): ReadonlyMap<Pack, Plan> {
  return new Map(Object.entries(PLANS).map(([price, plan]) => [Number(price) as Pack, plan]));
}

export interface PackForSale {
  pack: 9 | 29 | 79;
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
