/**
 * The kinds of callers, in order of precedence:
 * - live: heads of listings and the newest ids, which all matching depends on;
 * - groups: listings of groups of communities, for comments that the listing of all drops;
 * - catch-up: ranges of ids that were left behind;
 * - reading: requests of customers;
 * - threads: comments that listings dropped;
 * - recheck: items seen before, checked again;
 * - audit: samples that measure completeness.
 */
export const LANES = ['live', 'groups', 'catch-up', 'reading', 'threads', 'recheck', 'audit'] as const;
export type Lane = (typeof LANES)[number];

/** Calls a second, by lane. */
export type LaneRates = Readonly<Record<Lane, number>>;

/** Guaranteed shares of the whole budget, each from 0 to 1, together at most 1. A lane without one has none. */
export type BudgetShares = Readonly<Partial<Record<Lane, number>>>;

/** The shares that an operator sets. */
interface ReservedShares {
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

/** Several processes use no more than this of their clients: each learns a moment later what the others took. */
const SHARED_PART = 0.98;

/**
 * Splits `perSecond` among the lanes by their demand: first every lane up to its share, then the rest in lane order. So
 * a share is guaranteed to a lane that needs it and lent while it does not, and no calls are unused while a lane has
 * demand.
 */
export function allocateLanes(perSecond: number, demand: LaneRates, shares: BudgetShares): LaneRates {
  const shareOf = (lane: Lane): number => shares[lane] ?? 0;
  const granted = new Map(LANES.map((lane) => [lane, Math.min(demand[lane], product(shareOf(lane), perSecond))]));
  let left = perSecond - sum(granted.values());
  for (const lane of LANES) {
    const before = granted.get(lane) ?? 0;
    const more = Math.max(0, Math.min(demand[lane] - before, left));
    granted.set(lane, before + more);
    left -= more;
  }
  return mapLanes((lane) => granted.get(lane) ?? 0);
}

/**
 * The limit of each lane of one process, in calls a second, given the reported demand of the other processes. It is the
 * amount that the lane would get with unlimited demand, so an idle lane can start at once. While every process calls no
 * more than it reports, all together stay within `perSecond`: each process uses the smaller of its demand and this
 * limit. Processes share a lane by max-min fairness.
 *
 * @param perSecond of all clients of the process; Infinity while nothing is known
 */
export function laneLimits(
  perSecond: number,
  { mine, others }: { mine: LaneRates; others: readonly LaneRates[] },
  shares: BudgetShares,
): LaneRates {
  if (perSecond === Infinity) return mapLanes(() => Infinity);
  const total = mapLanes((lane) => mine[lane] + sum(others.map((other) => other[lane])));
  return mapLanes((lane) => {
    const granted = allocateLanes(perSecond, { ...total, [lane]: Infinity }, shares)[lane];
    return fairLevel(granted, [Infinity, ...others.map((other) => other[lane])]);
  });
}

/**
 * The calls a second that all lanes of one process may make together: what the other processes leave, and at least an
 * equal part.
 *
 * @param perSecond of all clients of the process; Infinity while nothing is known
 */
export function ownPart(
  perSecond: number,
  { mine, others }: { mine: LaneRates; others: readonly LaneRates[] },
  shares: BudgetShares,
): number {
  if (perSecond === Infinity || others.length === 0) return perSecond;
  const ofOthers = mapLanes((lane) => sum(others.map((other) => other[lane])));
  const granted = allocateLanes(
    perSecond,
    mapLanes((lane) => mine[lane] + ofOthers[lane]),
    shares,
  );
  const used = sum(
    LANES.map((lane) => (ofOthers[lane] === 0 ? 0 : granted[lane] * (ofOthers[lane] / (mine[lane] + ofOthers[lane])))),
  );
  return SHARED_PART * Math.max(perSecond - used, perSecond / (1 + others.length));
}

/**
 * Max-min fairness: the highest rate per unit of weight at which the claims together stay within `amount`; Infinity
 * when all demand is met.
 *
 * @param weights of the claims, in the order of `demand`; default: equal
 */
export function fairLevel(amount: number, demand: readonly number[], weights = demand.map(() => 1)): number {
  const claims = demand.map((demand, index) => ({ demand, weight: weights[index] ?? 1 }));
  let left = amount;
  let weight = sum(weights);
  for (const claim of claims.sort((a, b) => a.demand / a.weight - b.demand / b.weight)) {
    const level = left / weight;
    if (claim.demand > level * claim.weight) return level;
    left -= claim.demand;
    weight -= claim.weight;
  }
  return Infinity;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** 0 · Infinity is 0 here. */
function product(share: number, perSecond: number): number {
  return share === 0 ? 0 : share * perSecond;
}
