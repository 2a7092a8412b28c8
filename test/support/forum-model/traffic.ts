const DAY_MS = 86_400_000;

/** A stretch of time with `factor` times the usual rate. */
export interface Burst {
  fromMs: number;
  toMs: number;
  factor: number;
}

/** The rate of new items. Times are milliseconds since the start of the model. */
export interface Traffic {
  /** Items a second at the quietest moment of a day. */
  lowest: number;
  /** Items a second at the peak. */
  highest: number;
  peakAtMs: number;
  bursts: readonly Burst[];
}

/**
 * From 80 to 300 items/s with a mean of 80 + 220 · 5/16 = 149, the figures of the whole site: the third power of the
 * raised cosine has the mean 5/16.
 */
export const WHOLE_SITE: Traffic = { lowest: 80, highest: 300, peakAtMs: 14 * 3_600_000, bursts: [] };

/** A rate that does not change. */
export function steadily(itemsPerSecond: number, bursts: readonly Burst[] = []): Traffic {
  return { lowest: itemsPerSecond, highest: itemsPerSecond, peakAtMs: 0, bursts };
}

/** Items a second at a time. */
export function rateAt({ lowest, highest, peakAtMs, bursts }: Traffic, atMs: number): number {
  const raised = (1 + Math.cos((2 * Math.PI * (atMs - peakAtMs)) / DAY_MS)) / 2;
  const rate = lowest + (highest - lowest) * raised ** 3;
  const burst = bursts.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
  return rate * (burst?.factor ?? 1);
}
