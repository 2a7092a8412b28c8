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
