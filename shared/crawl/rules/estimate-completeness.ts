/** A thread that was chosen with a known probability and read completely. */
export interface AuditSample {
  /** One over the probability with which the thread was chosen; at least 1. */
  weight: number;
  /** Its comments that had been seen before it was read. */
  seen: number;
  /** All its comments. */
  total: number;
}

interface Completeness {
  /** The estimated share of all comments that were seen, from 0 to 1. */
  share: number;
  /** The bounds of its 95 % interval. */
  low: number;
  high: number;
}

/** The two-sided 95 % quantile of the normal distribution. */
const Z = 1.959964;

/**
 * Estimates which share of all comments was seen, from threads chosen independently of each other with known
 * probabilities (Poisson sampling).
 *
 * The share is the ratio estimator of Hájek, Σ w·seen ⁄ Σ w·total. Its variance is linearised: Särndal, Swensson and
 * Wretman, Model Assisted Survey Sampling (1992), 5.6 and 5.7, with residuals per thread, so that losses which cluster
 * in threads widen it. The interval is that of Wilson with the effective sample size and a t quantile, because the
 * normal interval is too short near 1: Franco, Little, Louis and Slud, Journal of Survey Statistics and Methodology 7
 * (2019). Where nothing was missed the variance says nothing; then each thread counts as one observation, which for
 * many threads is about the rule of three. Threads with weight 1 are no sample and add no uncertainty.
 *
 * @returns undefined when the samples hold no comment
 */
export function estimateCompleteness(samples: readonly AuditSample[]): Completeness | undefined {
  const total = sum(samples, ({ weight, total }) => weight * total);
  if (total <= 0) return undefined;
  const share = Math.min(1, sum(samples, ({ weight, seen }) => weight * seen) / total);
  const sampledPart = sum(samples, ({ weight, total }) => (weight - 1) * total) / total;
  if (sampledPart <= 0) return { share, low: share, high: share };
  // Kish: as many threads of equal size would say as much.
  const threads = total ** 2 / sum(samples, ({ weight, total }) => (weight * total) ** 2);
  if (share === 0 || share === 1) {
    return { share, ...wilsonInterval(share, threads / sampledPart, tQuantile(threads - 1)) };
  }
  const spread = ({ weight, seen, total }: AuditSample): number => weight * (weight - 1) * (seen - share * total) ** 2;
  const spreads = sum(samples, spread);
  // The sample may just have missed a thread with losses: one more thread of mean weight, lost like the mean.
  const unseen = (sampledPart * share * (1 - share)) / threads ** 2;
  const variance = spreads / total ** 2 + unseen;
  const comments = sum(samples, (sample) => sample.total);
  const size = Math.min((share * (1 - share)) / variance, comments / sampledPart);
  // Few threads with losses may carry most of the variance, which is known no better than from as many observations.
  const carriers = spreads ** 2 / sum(samples, (sample) => spread(sample) ** 2);
  return { share, ...wilsonInterval(share, size, tQuantile(Math.max(3, carriers || 0))) };
}

/** The interval of Wilson (1927) for a share that `size` independent observations showed. */
function wilsonInterval(share: number, size: number, quantile: number): { low: number; high: number } {
  const square = quantile ** 2;
  const centre = (share + square / (2 * size)) / (1 + square / size);
  const half = (quantile / (1 + square / size)) * Math.sqrt((share * (1 - share)) / size + square / (4 * size ** 2));
  return { low: Math.max(0, Math.min(share, centre - half)), high: Math.min(1, Math.max(share, centre + half)) };
}

/** The two-sided 95 % quantile of Student's t (expansion of Cornish and Fisher); fewer than 1 counts as 1. */
function tQuantile(freedom: number): number {
  const degrees = Math.max(1, freedom);
  return Z + (Z ** 3 + Z) / (4 * degrees) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * degrees ** 2);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  let result = 0;
  for (const value of values) result += of(value);
  return result;
}

interface HourCompleteness extends Completeness {
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

/** The share of posts that were found; undefined when there were none. Ids that were not read count as posts. */
export function postShare({ found, unread }: { found: number; unread: number }): number | undefined {
  return found + unread === 0 ? undefined : found / (found + unread);
}
