/**
 * The kinds of callers, in order of precedence:
 * - live: heads of listings and the newest ids, which all matching depends on;
 * - catch-up: ranges of ids that were left behind;
 * - reading: requests of customers;
 * - threads: comments that listings dropped;
 * - recheck: things seen before, checked again;
 * - audit: samples that measure completeness.
 */
export const LANES = ['live', 'catch-up', 'reading', 'threads', 'recheck', 'audit'] as const;
export type Lane = (typeof LANES)[number];

/** Calls a second, by lane. */
export type LaneRates = Readonly<Record<Lane, number>>;

/** Guaranteed shares of the whole budget; together at most 1. */
export interface BudgetShares {
  live: number;
  reading: number;
  audit: number;
}

export const DEFAULT_SHARES: BudgetShares = { live: 0.6, reading: 0.2, audit: 0.02 };

/** Computes the rate of every lane. */
export function mapLanes(rateOf: (lane: Lane) => number): LaneRates {
  return Object.fromEntries(LANES.map((lane) => [lane, rateOf(lane)])) as LaneRates;
}
