import type { Random } from '../shared/matcher-random.ts';

/** How the matches of a monitor come. */
export type CountModel = 'poisson' | 'weekly' | 'clusters';

const HOURS_A_DAY = 24;
/** The quietest hour of the day has a third of the matches of the busiest one, as on the real site. */
const SWING = 0.5;
/** Of the days of a week, Saturday and Sunday. */
const WEEKEND = 0.6;
/** `clusters`: matches that a thread brings on average, and the hours in which half of what is left comes. */
const CLUSTER_SIZE = 5;
const HALF_LIFE_HOURS = 2;

/**
 * Counts of consecutive hours with a daily rhythm, `mean` an hour on average:
 *
 * - `poisson`: independent arrivals.
 * - `weekly`: the same, with two quiet days a week.
 * - `clusters`: threads arrive independently, and each brings matches for some hours, geometrically many (a
 *   Neyman-Scott process): the variance of an hour is several times its mean.
 */
export function matchCounts(model: CountModel, mean: number, hours: number, random: Random): number[] {
  const rateAt = (hour: number) => mean * rhythm(hour) * (model === 'weekly' ? weekly(hour) : 1);
  if (model !== 'clusters') return Array.from({ length: hours }, (_, hour) => poisson(rateAt(hour), random));
  const counts = Array<number>(hours).fill(0);
  for (let hour = 0; hour < hours; hour++) {
    for (let thread = poisson(rateAt(hour) / CLUSTER_SIZE, random); thread > 0; thread--) {
      for (let match = geometric(CLUSTER_SIZE, random); match > 0; match--) {
        const later = hour + Math.floor(-Math.log2(1 - random()) * HALF_LIFE_HOURS);
        if (later < hours) counts[later]! += 1;
      }
    }
  }
  return counts;
}

function rhythm(hour: number): number {
  return 1 + SWING * Math.sin((2 * Math.PI * hour) / HOURS_A_DAY);
}

/** Its mean over a week is 1. */
function weekly(hour: number): number {
  const isWeekend = Math.floor(hour / HOURS_A_DAY) % 7 >= 5;
  return (isWeekend ? WEEKEND : 1) / ((5 + 2 * WEEKEND) / 7);
}

/** At most this much at a time, since e^-mean must not vanish. */
const LARGEST_STEP = 30;

/** A sum of Poisson numbers is one: large means are made of small ones (Knuth's method). */
export function poisson(mean: number, random: Random): number {
  let count = 0;
  for (let left = mean; left > 0; left -= LARGEST_STEP) {
    const limit = Math.exp(-Math.min(left, LARGEST_STEP));
    for (let product = random(); product > limit; product *= random()) count += 1;
  }
  return count;
}

/** At least 1, `mean` on average. */
function geometric(mean: number, random: Random): number {
  return 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / mean));
}
