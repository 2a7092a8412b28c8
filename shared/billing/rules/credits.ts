/** Price of a monitor for 24 hours: at creation, at resume, and at each renewal. */
export const MONITOR_PERIOD_CREDITS = 10;

/** Credits of a new free account. */
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

/** Days for which a balance lasts if all goes on as in the last one; undefined when nothing is spent. */
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
