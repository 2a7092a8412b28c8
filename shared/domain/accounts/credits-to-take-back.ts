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
