import { z } from 'zod';

const count = z.number().int().min(0);
const share = z.number().min(0).max(1);

/** What is known of an hour, as stored. Times of an hour are UTC. */
export const hourCoverage = z.object({
  /** Items first seen in the hour, by source. */
  seen: z.record(z.string(), z.object({ posts: count, comments: count })),
  /** Items first seen more than two minutes after their creation. */
  late: count,
  /** Their lags from creation to first sight (lag-histogram.ts), without items of dump files. */
  lags: z.record(z.string(), count),
  /** Items that the forum removed in the hour. */
  tombstones: count,
  /** Posts created in the hour: found, and ids that were not read; null while nobody walks the post ids. */
  posts: z.object({ found: count, unread: count }).nullable(),
  /** Comments created in the hour, by the audit; null before it has read any of their threads. */
  comments: z.object({ share, low: share, high: share, threads: count, comments: z.number().min(0) }).nullable(),
});

export type HourCoverage = z.infer<typeof hourCoverage>;

/**
 * Counts of lags in buckets of equal relative width, so that quantiles of hours can be merged: the DDSketch of Masson,
 * Rim and Lee (VLDB 2019). Every quantile is within 2 % of an exact one. Keys are bucket numbers, as JSON stores them.
 */
export type LagHistogram = Readonly<Record<string, number>>;

const ACCURACY = 0.02;
/** The ratio of a bucket's upper bound to its lower one. */
export const LAG_GAMMA = (1 + ACCURACY) / (1 - ACCURACY);
/** Shorter lags count as this long: the forum's dates are whole seconds. */
export const SHORTEST_LAG_SECONDS = 0.1;

export function mergeLags(histograms: readonly LagHistogram[]): LagHistogram {
  const merged = new Map<string, number>();
  for (const histogram of histograms) {
    for (const bucket in histogram) merged.set(bucket, (merged.get(bucket) ?? 0) + histogram[bucket]!);
  }
  return Object.fromEntries(merged);
}

/** Quantiles of the lags in seconds, in the order of `levels` (0 to 1); undefined without any lag. */
export function lagQuantiles(histogram: LagHistogram, levels: readonly number[]): number[] | undefined {
  const buckets = Object.entries(histogram)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .sort((a, b) => a.bucket - b.bucket);
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return undefined;
  return levels.map((level) => {
    let rank = Math.floor(level * (total - 1));
    const found = buckets.find(({ count }) => {
      rank -= count;
      return rank < 0;
    });
    return secondsOf(found?.bucket ?? buckets.at(-1)!.bucket);
  });
}

/** The value of a bucket that no lag in it differs from by more than the accuracy. Bucket b ends at gamma to the b. */
function secondsOf(bucket: number): number {
  return (2 * LAG_GAMMA ** bucket) / (LAG_GAMMA + 1);
}

/** A stretch of post ids that was not read. */
export interface UnreadStretch {
  /** Fullnames of the posts before and after the stretch. */
  afterThing: string | undefined;
  beforeThing: string | undefined;
  /** Creation times of the posts around the stretch, in milliseconds since 1970. */
  afterAt: number | undefined;
  beforeAt: number | undefined;
  openedAt: number;
  found: number;
}

const HOUR_MS = 3_600_000;

/**
 * How many post ids of each hour are in stretches that were not read, by the start of the hour in milliseconds since
 * 1970. Ids are assumed to be spread evenly over the time of their stretch; a time that is not known is taken to be the
 * next one known. A stretch without a first or last id counts nowhere, because its length is unknown.
 */
export function unreadPostsByHour(stretches: readonly UnreadStretch[]): Map<number, number> {
  const unread = new Map<number, number>();
  for (const { afterThing, beforeThing, openedAt, found, ...times } of stretches) {
    const [first, last] = [postNumber(afterThing), postNumber(beforeThing)];
    if (first === undefined || last === undefined) continue;
    const beforeAt = times.beforeAt ?? openedAt;
    const afterAt = times.afterAt ?? beforeAt;
    const left = Math.max(0, Number(last - first) - 1 - found);
    const length = Math.max(1, beforeAt - afterAt);
    for (let hour = Math.floor(afterAt / HOUR_MS) * HOUR_MS; hour < afterAt + length; hour += HOUR_MS) {
      const within = Math.min(hour + HOUR_MS, afterAt + length) - Math.max(hour, afterAt);
      unread.set(hour, (unread.get(hour) ?? 0) + (left * within) / length);
    }
  }
  return unread;
}

/** Reads the number in a post's fullname, which is in base 36. Returns undefined for any other name. */
function postNumber(fullname: string | undefined): bigint | undefined {
  const [, id] = /^t3_([0-9a-z]{1,13})$/.exec(fullname ?? '') ?? [];
  if (id === undefined) return undefined;
  return id.split('').reduce((number, digit) => number * 36n + BigInt(parseInt(digit, 36)), 0n);
}

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
