/**
 * The kinds of callers, in order of precedence:
 * - live: heads of listings and the newest ids, which all matching depends on;
 * - groups: listings of groups of communities, for comments that the listing of all drops;
 * - catch-up: ranges of ids that were left behind;
 * - reading: requests of customers;
 * - threads: comments that listings dropped;
 * - recheck: things seen before, checked again;
 * - audit: samples that measure completeness.
 */
export const LANES = ['live', 'groups', 'catch-up', 'reading', 'threads', 'recheck', 'audit'] as const;
export type Lane = (typeof LANES)[number];

/** Calls a second, by lane. */
export type LaneRates = Readonly<Record<Lane, number>>;

/** Guaranteed shares of the whole budget, each from 0 to 1, together at most 1. A lane without one has none. */
export type BudgetShares = Readonly<Partial<Record<Lane, number>>>;

/** The shares that an operator sets. */
export interface ReservedShares {
  live: number;
  reading: number;
  audit: number;
}

/** The parts of what the operator's shares leave. */
const THREADS_OF_REST = 0.55;
const RECHECK_OF_REST = 0.15;

/** Adds the shares of threads and rechecks, so that neither groups nor readers can starve them. */
export function withSweepShares({ live, reading, audit }: ReservedShares): BudgetShares {
  const rest = Math.max(0, 1 - live - reading - audit);
  return { live, reading, audit, threads: THREADS_OF_REST * rest, recheck: RECHECK_OF_REST * rest };
}

export const DEFAULT_SHARES: BudgetShares = withSweepShares({ live: 0.6, reading: 0.2, audit: 0.02 });

/** Computes the rate of every lane. */
export function mapLanes(rateOf: (lane: Lane) => number): LaneRates {
  return Object.fromEntries(LANES.map((lane) => [lane, rateOf(lane)])) as LaneRates;
}
