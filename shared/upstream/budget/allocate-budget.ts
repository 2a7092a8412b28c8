import type { BudgetShares, Lane, LaneRates } from './lanes.ts';
import { mapLanes, LANES } from './lanes.ts';

/**
 * What each lane gets of `perSecond`, by what all want: first every lane up to its share, then what is left in the
 * order of lanes. So a share is certain where it is wanted and lent where it is not, and nothing is left over while
 * anybody wants it.
 */
export function allocateLanes(perSecond: number, demand: LaneRates, shares: BudgetShares): LaneRates {
  const shareOf = (lane: Lane): number => (lane in shares ? shares[lane as keyof BudgetShares] : 0);
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
 * What each lane of one process may call a second, when others want what they say. It is what the lane would get if it
 * wanted without bound, so a lane that was idle begins at once. While every process calls no more than it says, all
 * together stay within `perSecond`: for each claim the allocation is the smaller of what is wanted and this bound.
 * Processes share a lane by max-min fairness.
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
 * Max-min fairness: how much each of several may have at most for each unit of its weight, so that together they have
 * `amount`; Infinity: all have what they want.
 *
 * @param weights of those who want, in their order; default: all alike
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
