import { CachedReads } from '../../../shared/cache/cached-reads.ts';
import type { CachedReadsDeps } from '../../../shared/cache/cached-reads.ts';
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
  /** When it was fetched, milliseconds since 1970. */
  fetchedAtMs: number;
}

const FRESH_FOR_MS = 30_000;

/** @param options.memoryBytes limit for all cached values together */
export function createListingCache(
  options: Pick<CachedReadsDeps<object>, 'clock' | 'memoryBytes' | 'onBytes'>,
): ListingCache {
  const reads = new CachedReads<object>({
    ...options,
    freshForMs: () => FRESH_FOR_MS,
    mayServeStale: isForumUnavailable,
    negativeForMs,
  });
  return {
    async read<T extends object>(key: string, fetch: () => Promise<T>) {
      const { value, tier, ...read } = await reads.read(key, fetch);
      // The key contains the path, so the cached value has the type that this path returns.
      return { value: value as T, tier: tier === 'MISS' ? 'MISS' : 'L1_LISTING', ...read };
    },
  };
}
