import type { Clock } from '../runtime/clock.ts';
import type { DiskCache } from './disk-cache.ts';
import { estimateBytes } from './estimate-bytes.ts';
import { SingleFlight } from './single-flight.ts';
import { TinyLfuCache } from './tiny-lfu-cache.ts';

/** Where a value came from, as in the header X-Cache-Tier. */
export type CacheTier = 'L1_TINYLFU' | 'L2_BADGER' | 'MISS';

/** The result of a read. All readers share the value, so nobody may change it. */
export interface CachedRead<V> {
  value: V;
  /** MISS: fetched for this call, or for a concurrent call with the same key. */
  tier: CacheTier;
  /** The fetch failed, and this is an older copy. */
  degraded: boolean;
  /** Time of the fetch, milliseconds since 1970. */
  fetchedAtMs: number;
}

export interface CachedReadsDeps<V> {
  clock: Clock;
  /** Bytes of memory for the values, their keys and cached failures together. */
  memoryBytes: number;
  /** Size of a value in bytes; default: `estimateBytes`. */
  bytesOf?: (value: V) => number;
  /** How long a value is fresh, in ms from `fetchedAtMs`. */
  freshForMs: (value: V, fetchedAtMs: number) => number;
  /** How long a copy may replace a failed fetch, in ms from its fetch; default: an hour. */
  staleForMs?: number;
  /** Whether an older copy may replace this failure: true for an outage, false for an answer such as "not found". */
  mayServeStale: (error: unknown) => boolean;
  /** How long this failure is cached, in ms; 0: not at all. A cached failure is an answer: it replaces the copies. */
  negativeForMs: (error: unknown) => number;
  /** A second level that outlives the process; without it values are in memory only. */
  disk?: DiskLevel<V>;
  /** For TinyLfuCache. */
  random?: () => number;
  onBytes?: ((bytes: number) => void) | undefined;
}

export interface DiskLevel<V> {
  cache: DiskCache;
  serialize: (value: V) => Buffer;
  /** An exception or undefined counts as not found. */
  deserialize: (data: Buffer) => V | undefined;
}

interface StoredValue<V> {
  value: V;
  fetchedAtMs: number;
  freshForMs: number;
}

/** A value in memory. */
interface KeptValue<V> extends StoredValue<V> {
  /** When memory stored it; later than `fetchedAtMs` when it came from the disk. */
  keptAtMs: number;
}

interface StoredFailure {
  error: unknown;
  failedAtMs: number;
  negativeForMs: number;
}

interface Copy<V> {
  stored: StoredValue<V>;
  tier: CacheTier;
}

const HOUR_MS = 3_600_000;
/** Overhead of an entry besides its value and key: a slot of the map and the entry's fields. */
const ENTRY_BYTES = 300;
/** Looked at with each value that is stored in memory, so that useless ones do not fill it. */
const PRUNED_AT_ONCE = 4;
/** While the disk holds the values too, memory keeps a stale one for this long after storing it. */
const STALE_IN_MEMORY_MS = 600_000;
/** Size of an error with its stack. */
const ERROR_BYTES = 2_000;

/**
 * Reads through two caches: memory (W-TinyLFU), then disk (SQLite), then `fetch`.
 *
 * - A fresh copy is returned at once. A copy from disk is also stored in memory.
 * - Otherwise callers with the same key share one fetch, and its value is stored on both levels.
 * - When the fetch fails with an error that `mayServeStale` accepts, a copy younger than `staleForMs` is returned as
 *   degraded.
 * - A failure with `negativeForMs` above 0 is thrown again until that time has passed, and the copies are dropped.
 *
 * An entry from the future (the clock was set back) counts as expired. Both levels may evict anything at any time.
 * Memory also drops what no read would use any more. While the disk holds the values too, it drops those that are no
 * longer fresh ten minutes after it stored them.
 */
export class CachedReads<V> {
  private readonly options: CachedReadsDeps<V>;
  private readonly staleForMs: number;
  private readonly memory: TinyLfuCache<KeptValue<V> | StoredFailure>;
  private readonly fetches = new SingleFlight<CachedRead<V>>();

  constructor(options: CachedReadsDeps<V>) {
    this.options = options;
    this.staleForMs = options.staleForMs ?? HOUR_MS;
    const { memoryBytes, random = Math.random, onBytes } = options;
    this.memory = new TinyLfuCache({ maxBytes: memoryBytes, random, onBytes });
  }

  /** Bytes and entries in memory. */
  get memoryUse(): { bytes: number; entries: number } {
    return { bytes: this.memory.bytes, entries: this.memory.size };
  }

  /**
   * Reads a value.
   *
   * @param key identifies the value and everything that it depends on; any string
   * @param fetch reads the source. Callers share it, so it must not end with one caller's request. Its signal aborts
   * when no caller waits any more
   * @param signal the caller's own; aborting it ends this call only
   * @throws the error of `fetch`, now or within `negativeForMs`; the signal's reason
   */
  async read(key: string, fetch: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<CachedRead<V>> {
    const now = this.options.clock();
    const known = this.memory.get(key);
    if (known && 'error' in known) {
      if (isWithin(now, known.failedAtMs, known.negativeForMs)) throw known.error;
    } else if (known && isWithin(now, known.fetchedAtMs, known.freshForMs)) {
      return toCachedRead({ stored: known, tier: 'L1_TINYLFU' });
    }
    const copy = this.findCopy(key, known);
    if (copy?.tier === 'L2_BADGER' && isWithin(now, copy.stored.fetchedAtMs, copy.stored.freshForMs)) {
      this.storeInMemory(key, copy.stored);
      return toCachedRead(copy);
    }
    return this.fetches.run(key, (shared) => this.fetchAndStore(key, copy, fetch, shared), signal);
  }

  /**
   * Stores a value that the caller derived from one it had read, such as a post with more comments. `fetchedAtMs` is
   * the age of its oldest part. A newer value that was stored meanwhile stays.
   */
  put(key: string, value: V, fetchedAtMs: number): void {
    const known = this.memory.get(key);
    const knownAtMs = known && ('error' in known ? known.failedAtMs : known.fetchedAtMs);
    if (knownAtMs === undefined || knownAtMs <= fetchedAtMs) this.store(key, value, fetchedAtMs);
  }

  /** The copy in memory, or else on disk. The copy in memory is at least as new. */
  private findCopy(key: string, known: StoredValue<V> | StoredFailure | undefined): Copy<V> | undefined {
    if (known) return 'error' in known ? undefined : { stored: known, tier: 'L1_TINYLFU' };
    const { disk } = this.options;
    const found = disk?.cache.get(key);
    if (!disk || !found) return undefined;
    const value = undefinedIfThrows(() => disk.deserialize(found.value));
    if (value === undefined) return undefined;
    const fetchedAtMs = found.storedAtMs;
    const stored = { value, fetchedAtMs, freshForMs: this.options.freshForMs(value, fetchedAtMs) };
    return { stored, tier: 'L2_BADGER' };
  }

  private async fetchAndStore(
    key: string,
    copy: Copy<V> | undefined,
    fetch: (signal: AbortSignal) => Promise<V>,
    signal: AbortSignal,
  ): Promise<CachedRead<V>> {
    let value: V;
    try {
      value = await fetch(signal);
    } catch (error) {
      // No caller waits any more. This service caused the failure, so it says nothing about the source.
      if (signal.aborted) throw error;
      return this.serveStaleOrThrow(key, copy, error);
    }
    return toCachedRead({ stored: this.store(key, value, this.options.clock()), tier: 'MISS' });
  }

  /** Returns the stale copy instead of a failure, or throws the failure. */
  private serveStaleOrThrow(key: string, copy: Copy<V> | undefined, error: unknown): CachedRead<V> {
    const now = this.options.clock();
    const negativeForMs = this.options.negativeForMs(error);
    if (negativeForMs > 0) {
      this.storeFailure(key, { error, failedAtMs: now, negativeForMs });
      throw error;
    }
    if (copy && isWithin(now, copy.stored.fetchedAtMs, this.staleForMs) && this.options.mayServeStale(error)) {
      // So that a popular one is not read from the disk again for each request of an outage.
      if (copy.tier === 'L2_BADGER') this.storeInMemory(key, copy.stored);
      return { ...toCachedRead(copy), degraded: true };
    }
    throw error;
  }

  private store(key: string, value: V, fetchedAtMs: number): StoredValue<V> {
    const freshForMs = this.options.freshForMs(value, fetchedAtMs);
    const stored = { value, fetchedAtMs, freshForMs };
    this.storeInMemory(key, stored);
    const { disk } = this.options;
    if (disk) {
      const expiresAtMs = fetchedAtMs + Math.max(freshForMs, this.staleForMs);
      disk.cache.set(key, disk.serialize(value), expiresAtMs, fetchedAtMs);
    }
    return stored;
  }

  private storeInMemory(key: string, stored: StoredValue<V>): void {
    const now = this.options.clock();
    const bytes = (this.options.bytesOf ?? estimateBytes)(stored.value);
    this.memory.set(key, { ...stored, keptAtMs: now }, bytes + 2 * key.length + ENTRY_BYTES);
    this.memory.prune((value) => this.isUseless(value, now), PRUNED_AT_ONCE);
  }

  private isUseless(stored: KeptValue<V> | StoredFailure, now: number): boolean {
    if ('error' in stored) return !isWithin(now, stored.failedAtMs, stored.negativeForMs);
    if (isWithin(now, stored.fetchedAtMs, stored.freshForMs)) return false;
    if (!isWithin(now, stored.fetchedAtMs, this.staleForMs)) return true;
    // From the time of storing: in a long outage a copy from the disk is old when it is stored, and reading a popular
    // one from the disk for each request would block the thread.
    return this.options.disk?.cache.holdsValues === true && !isWithin(now, stored.keptAtMs, STALE_IN_MEMORY_MS);
  }

  private storeFailure(key: string, failure: StoredFailure): void {
    this.memory.set(key, failure, ERROR_BYTES + 2 * key.length + ENTRY_BYTES);
    this.options.disk?.cache.delete(key);
  }
}

function isWithin(now: number, since: number, forMs: number): boolean {
  const age = now - since;
  return age >= 0 && age < forMs;
}

function toCachedRead<V>({ stored, tier }: Copy<V>): CachedRead<V> {
  return { value: stored.value, tier, degraded: false, fetchedAtMs: stored.fetchedAtMs };
}

function undefinedIfThrows<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
