import type { Completeness } from './estimate-completeness.ts';

/** The completeness of one hour. */
export interface HourCompleteness extends Completeness {
  /** How much the hour counts: the estimated number of its comments. */
  comments: number;
}

/**
 * The completeness of several hours together, each counting by its comments; undefined when no hour has any. Hours are
 * sampled independently, so the interval of the weighted mean follows from theirs by the method of variance estimates
 * recovery (Zou and Donner, Statistics in Medicine 2008), which needs no symmetry: near 1 the intervals have none.
 */
export function combineCompleteness(hours: readonly HourCompleteness[]): Completeness | undefined {
  const comments = hours.reduce((sum, hour) => sum + hour.comments, 0);
  if (comments === 0) return undefined;
  const sumOf = (term: (hour: HourCompleteness, part: number) => number): number =>
    hours.reduce((sum, hour) => sum + term(hour, hour.comments / comments), 0);
  const share = Math.min(
    1,
    sumOf((hour, part) => part * hour.share),
  );
  const below = Math.sqrt(sumOf((hour, part) => (part * (hour.share - hour.low)) ** 2));
  const above = Math.sqrt(sumOf((hour, part) => (part * (hour.high - hour.share)) ** 2));
  return { share, low: Math.max(0, share - below), high: Math.min(1, share + above) };
}
