import { CachedReads } from '../../../shared/cache/cached-reads.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { isForumUnavailable, negativeForMs } from './reading-failure.ts';

/** Cached listings, communities and users. */
export interface ListingCache {
  /**
   * Returns the cached value while it is fresh. Otherwise calls `fetch` and shares its result with all concurrent
   * readers.
   */
  read<T extends object>(key: string, fetch: () => Promise<T>): Promise<ListingRead<T>>;
}

export interface ListingRead<T> {
  value: T;
  tier: 'L1_LISTING' | 'MISS';
  /** The forum is unavailable, and this is an older copy. */
  degraded: boolean;
}

const FRESH_FOR_MS = 30_000;

/** @param memoryBytes limit for all cached values together */
export function createListingCache({ clock, memoryBytes }: { clock: Clock; memoryBytes: number }): ListingCache {
  const reads = new CachedReads<object>({
    clock,
    memoryBytes,
    freshForMs: () => FRESH_FOR_MS,
    mayServeStale: isForumUnavailable,
    negativeForMs,
  });
  return {
    async read<T extends object>(key: string, fetch: () => Promise<T>) {
      const { value, tier, degraded } = await reads.read(key, fetch);
      // The key contains the path, so the cached value has the type that this path returns.
      return { value: value as T, tier: tier === 'MISS' ? 'MISS' : 'L1_LISTING', degraded };
    },
  };
}
