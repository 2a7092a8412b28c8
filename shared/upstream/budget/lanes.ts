/**
 * Who calls the forum, in the order of precedence:
 * - live: heads of listings and the newest ids, on which all matching waits;
 * - catch-up: stretches of ids that were left behind;
 * - reading: requests of customers;
 * - threads: comments that listings dropped;
 * - recheck: what was seen, once more;
 * - audit: samples that measure completeness.
 */
export const LANES = ['live', 'catch-up', 'reading', 'threads', 'recheck', 'audit'] as const;
export type Lane = (typeof LANES)[number];

/** Calls a second, by lane. */
export type LaneRates = Readonly<Record<Lane, number>>;

/** What lanes may claim before all others, as parts of the whole budget; together at most 1. */
export interface BudgetShares {
  live: number;
  reading: number;
  audit: number;
}

export const DEFAULT_SHARES: BudgetShares = { live: 0.6, reading: 0.2, audit: 0.02 };

/** The same for every lane. */
export function mapLanes(rateOf: (lane: Lane) => number): LaneRates {
  return Object.fromEntries(LANES.map((lane) => [lane, rateOf(lane)])) as LaneRates;
}
