import { CachedReads } from '../../../shared/cache/cached-reads.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { isTrouble, negativeForMs } from './reading-failure.ts';

/** Answers of the forum that many may ask for: pages, communities, users. */
export interface ListingCache {
  /** The kept answer while it is fresh, else what `fetch` brings, which is shared with all who ask meanwhile. */
  read<T extends object>(key: string, fetch: () => Promise<T>): Promise<ListingRead<T>>;
}

export interface ListingRead<T> {
  value: T;
  tier: 'L1_LISTING' | 'MISS';
  /** The forum could not be read, and this is an older copy. */
  degraded: boolean;
}

const FRESH_FOR_MS = 30_000;

/** @param memoryBytes of all kept answers together */
export function createListingCache({ clock, memoryBytes }: { clock: Clock; memoryBytes: number }): ListingCache {
  const reads = new CachedReads<object>({
    clock,
    memoryBytes,
    freshForMs: () => FRESH_FOR_MS,
    mayServeStale: isTrouble,
    negativeForMs,
  });
  return {
    async read<T extends object>(key: string, fetch: () => Promise<T>) {
      const { value, tier, degraded } = await reads.read(key, fetch);
      // The key names the path, and with it what kind of answer this is.
      return { value: value as T, tier: tier === 'MISS' ? 'MISS' : 'L1_LISTING', degraded };
    },
  };
}
