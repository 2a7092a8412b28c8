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

/** The forum that the model plays. The defaults are the whole site. */
export interface ForumOptions {
  seed: number;
  /** When the model starts, in milliseconds since 1970. */
  startsAt: number;
  traffic: Traffic;
  communities: number;
  /** A community's share of all items is proportional to rank ^ -exponent. */
  exponent: number;
  /** The share of comments among all items. */
  comments: number;
  /** /r/all/comments shows this many comments of each second, and of the others all but the share `dropped`. */
  keptPerSecond: number;
  dropped: number;
  /** The share of comments in communities that /r/all does not show. */
  outsideAll: number;
  /** The share of comments that only their thread shows, and of comments that only num_comments counts. */
  inThreadOnly: number;
  inNothing: number;
  /** The share of items that appear late, by up to `latenessMs`, and then first in the listings. */
  late: number;
  latenessMs: number;
  /** The share of post ids that never appear. */
  holes: number;
  /** The posts of this many hours before the start have an id and attract comments. */
  historyHours: number;
}

export const WHOLE_SITE_FORUM: ForumOptions = {
  seed: 1,
  startsAt: Date.UTC(2026, 0, 15),
  traffic: WHOLE_SITE,
  communities: 100_000,
  exponent: 1.1,
  comments: 132 / 149,
  keptPerSecond: 60,
  dropped: 0.2,
  outsideAll: 0.01,
  inThreadOnly: 0.02,
  inNothing: 0.004,
  late: 0.005,
  latenessMs: 600_000,
  holes: 0.02,
  historyHours: 6,
};
