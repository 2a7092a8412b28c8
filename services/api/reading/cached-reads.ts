import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { DiskCache } from './disk-cache.ts';
import { SingleFlight } from '../../../shared/runtime/single-flight.ts';

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
  /** Called with the sum of the entries' bytes when one was stored in memory. */
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
/** Size of an error with its stack. */
const ERROR_BYTES = 2_000;

/**
 * Reads through two caches: memory (least recently used first out), then disk (SQLite), then `fetch`.
 *
 * - A fresh copy is returned at once. A copy from disk is also stored in memory.
 * - Otherwise callers with the same key share one fetch, and its value is stored on both levels.
 * - When the fetch fails with an error that `mayServeStale` accepts, a copy younger than `staleForMs` is returned as
 *   degraded.
 * - A failure with `negativeForMs` above 0 is thrown again until that time has passed, and the copies are dropped.
 *
 * Both levels may evict anything at any time.
 */
export class CachedReads<V> {
  private readonly options: CachedReadsDeps<V>;
  private readonly staleForMs: number;
  private readonly memory: LRUCache<string, StoredValue<V> | StoredFailure>;
  private readonly fetches = new SingleFlight<CachedRead<V>>();

  constructor(options: CachedReadsDeps<V>) {
    this.options = options;
    this.staleForMs = options.staleForMs ?? HOUR_MS;
    this.memory = new LRUCache({ maxSize: options.memoryBytes });
  }

  /** Bytes and entries in memory. */
  get memoryUse(): { bytes: number; entries: number } {
    return { bytes: this.memory.calculatedSize, entries: this.memory.size };
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
    let value: V | undefined;
    try {
      value = disk.deserialize(found.value);
    } catch {
      // As if it were not found.
    }
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
    this.remember(key, stored, (this.options.bytesOf ?? estimateBytes)(stored.value));
  }

  private storeFailure(key: string, failure: StoredFailure): void {
    this.remember(key, failure, ERROR_BYTES);
    this.options.disk?.cache.delete(key);
  }

  private remember(key: string, entry: StoredValue<V> | StoredFailure, bytes: number): void {
    this.memory.set(key, entry, { size: Math.ceil(bytes) + 2 * key.length + ENTRY_BYTES });
    this.options.onBytes?.(this.memory.calculatedSize);
  }
}

function isWithin(now: number, since: number, forMs: number): boolean {
  // One from the future, of a process whose clock was ahead, would be served until then.
  return now >= since && now - since < forMs;
}

function toCachedRead<V>({ stored, tier }: Copy<V>): CachedRead<V> {
  return { value: stored.value, tier, degraded: false, fetchedAtMs: stored.fetchedAtMs };
}

const OBJECT = 24;
const ARRAY = 32;
const SLOT = 8;
const STRING = 16;
const NUMBER = 16;

/**
 * Estimates the memory of a value made of plain objects, arrays and primitives in V8 (64 bits, no pointer compression):
 * headers, a slot per property or element, strings with one or two bytes a character. Objects of one shape share
 * property names, so names count nothing. A string that occurs several times is counted each time, so the result errs
 * on the high side.
 *
 * Visits every property and scans every text. The value must have no cycles. Other objects (maps, dates, buffers) count
 * as empty.
 */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  // An explicit stack instead of recursion, because comments may nest without limit.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string') bytes += stringBytes(next);
    else if (typeof next === 'number') bytes += Number.isSafeInteger(next) && Math.abs(next) < 2 ** 31 ? 0 : NUMBER;
    else if (Array.isArray(next)) {
      bytes += ARRAY + SLOT * next.length;
      for (const element of next) pending.push(element);
    } else if (typeof next === 'object' && next !== null) {
      const properties = Object.values(next) as unknown[];
      bytes += OBJECT + SLOT * properties.length;
      for (const property of properties) pending.push(property);
    }
  }
  return bytes;
}

/** One character above U+00FF makes the whole string two bytes wide. */
function stringBytes(text: string): number {
  const wide = /[\u0100-\uffff]/.test(text);
  return STRING + Math.ceil((text.length * (wide ? 2 : 1)) / 8) * 8;
}
