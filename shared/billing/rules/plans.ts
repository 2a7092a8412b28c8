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

/** Price of a monitor for 24 hours: at creation, at resume, and at each renewal. */
export const MONITOR_PERIOD_CREDITS = 10;

export const SIGN_UP_CREDITS = 200;

/**
 * Reference of the ledger row that pays a monitor's period. A monitor uses each period number once, so the ledger's
 * unique references make a second charge of a period impossible.
 */
export function periodReference(monitorId: string, periodNo: number): string {
  return `${monitorId}:${periodNo}`;
}

/** Comments of a post that the first credit covers. */
const FIRST_COMMENTS = 500;
/** Comments that each further credit covers. */
const FURTHER_COMMENTS = 100;

/** Credits for a post with this many comments. */
export function postCost(comments: number): number {
  return 1 + Math.ceil(Math.max(0, comments - FIRST_COMMENTS) / FURTHER_COMMENTS);
}

/** How many comments this many credits (at least 1) cover. */
export function coveredComments(credits: number): number {
  return FIRST_COMMENTS + FURTHER_COMMENTS * (credits - 1);
}

/** Days that a balance lasts at the use of the last day; undefined when nothing is spent. */
export function daysLeft(of: { balance: number; activeMonitors: number; readingCredits: number }): number | undefined {
  const perDay = of.activeMonitors * MONITOR_PERIOD_CREDITS + of.readingCredits;
  return perDay === 0 ? undefined : of.balance / perDay;
}

/** What is known of the money that was paid for a pack. */
export interface ReturnedMoney {
  /** What was charged, in the currency's smallest unit; null while no refund has named it. */
  charged: number | null;
  /** The sum of all refunds, in the same unit. */
  refunded: number;
  /** Whether the customer's bank has taken the money back, and has not returned it. */
  isDisputed: boolean;
}

/**
 * How many of a pack's credits are to be taken back. A dispute or a full refund takes all of them. A partial refund
 * takes the same share of the credits as of the money, rounded down: the customer keeps what is left of a credit.
 *
 * @param credits what the pack gave
 * @returns 0 to `credits`; never less for more refunded money
 */
export function creditsToTakeBack(credits: number, { charged, refunded, isDisputed }: ReturnedMoney): number {
  if (isDisputed) return credits;
  if (charged === null || refunded <= 0) return 0;
  return refunded >= charged ? credits : Math.floor((credits * refunded) / charged);
}

/** What so many credits cost in an account's pack or, without one, in the smallest: "0.54". */
export function dollarsOf(credits: number, pack: number): string {
  const { amount, credits: sold } = packForSale(String(pack)) ?? PACKS_FOR_SALE[0]!;
  return ((amount * credits) / sold / 100).toFixed(2);
}
