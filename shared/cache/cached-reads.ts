import type { Clock } from '../runtime/clock.ts';
import type { DiskCache } from './disk-cache.ts';
import { estimateBytes } from './estimate-bytes.ts';
import { SingleFlight } from './single-flight.ts';
import { TinyLfuCache } from './tiny-lfu-cache.ts';

/** Where a value came from, in the words of the header X-Cache-Tier. */
export type CacheTier = 'L1_TINYLFU' | 'L2_BADGER' | 'MISS';

/** A value is shared by all who read it: nobody may change it. */
export interface CachedRead<V> {
  value: V;
  /** MISS: it was fetched for this call, or for another one at the same time. */
  tier: CacheTier;
  /** The fetch failed, and this is an older copy. */
  degraded: boolean;
  /** When it was fetched, milliseconds since 1970. */
  fetchedAtMs: number;
}

export interface CachedReadsDeps<V> {
  clock: Clock;
  /** Bytes of memory that the values, their keys and remembered failures may take together. */
  memoryBytes: number;
  /** How much of it a value takes; `estimateBytes` unless the caller knows a better way. */
  bytesOf?: (value: V) => number;
  /** How long a value is answered without asking again, in ms from `fetchedAtMs`. */
  freshForMs: (value: V, fetchedAtMs: number) => number;
  /** How long after it was fetched a copy may stand in for a failed fetch, in ms; an hour unless given. */
  staleForMs?: number;
  /** Whether an older copy may stand in for this failure: true for trouble, false for an answer such as "not found". */
  mayServeStale: (error: unknown) => boolean;
  /**
   * How long this failure is thrown again without asking, in ms; 0: not at all. Such a failure is an answer: it
   * replaces the copies.
   */
  negativeForMs: (error: unknown) => number;
  /** A second level that outlives the process; without it values are in memory only. */
  disk?: DiskLevel<V>;
  /** For TinyLfuCache. */
  random?: () => number;
}

export interface DiskLevel<V> {
  cache: DiskCache;
  serialize: (value: V) => Buffer;
  /** What throws here, or answers undefined, counts as not found. */
  deserialize: (data: Buffer) => V | undefined;
}

interface Kept<V> {
  value: V;
  fetchedAtMs: number;
  freshForMs: number;
}

interface KeptFailure {
  error: unknown;
  failedAtMs: number;
  negativeForMs: number;
}

interface Copy<V> {
  kept: Kept<V>;
  tier: CacheTier;
}

const HOUR_MS = 3_600_000;
/** What an entry takes beside its value and its key: a slot of the map, the entry, what is in it. */
const ENTRY_BYTES = 300;
/** An error with its stack. */
const ERROR_BYTES = 2_000;

/**
 * Reads through two caches: memory (W-TinyLFU), then disk (LMDB), then `fetch`.
 *
 * - A fresh copy is answered at once; one from disk moves up into memory.
 * - Otherwise callers with the same key share one fetch, and its value is kept on both levels.
 * - When the fetch fails with an error for which `mayServeStale` says so, a copy younger than `staleForMs` is answered,
 *   degraded.
 * - A failure with `negativeForMs` above 0 is thrown again until that time has passed, and the copies are dropped.
 *
 * An entry that is newer than the clock says (the clock was set back) counts as too old. Both levels may forget
 * anything at any time.
 */
export class CachedReads<V> {
  private readonly options: CachedReadsDeps<V>;
  private readonly staleForMs: number;
  private readonly memory: TinyLfuCache<Kept<V> | KeptFailure>;
  private readonly fetches = new SingleFlight<CachedRead<V>>();

  constructor(options: CachedReadsDeps<V>) {
    this.options = options;
    this.staleForMs = options.staleForMs ?? HOUR_MS;
    const { memoryBytes, random = Math.random } = options;
    this.memory = new TinyLfuCache({ maxBytes: memoryBytes, random });
  }

  /** Bytes and entries in memory now. */
  get memoryUse(): { bytes: number; entries: number } {
    return { bytes: this.memory.bytes, entries: this.memory.size };
  }

  /**
   * @param key names the value and all that it depends on; any string
   * @param fetch asks the source. It is shared by callers, so it must not end with one caller's request: its signal
   * aborts when nobody waits any more
   * @param signal the caller's own; aborting it ends this call only
   * @throws what `fetch` throws, now or within `negativeForMs`; the signal's reason
   */
  async read(key: string, fetch: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<CachedRead<V>> {
    const now = this.options.clock();
    const known = this.memory.get(key);
    if (known && 'error' in known) {
      if (isWithin(now, known.failedAtMs, known.negativeForMs)) throw known.error;
    } else if (known && isWithin(now, known.fetchedAtMs, known.freshForMs)) {
      return answer({ kept: known, tier: 'L1_TINYLFU' });
    }
    const copy = this.copyOf(key, known);
    if (copy?.tier === 'L2_BADGER' && isWithin(now, copy.kept.fetchedAtMs, copy.kept.freshForMs)) {
      this.keepInMemory(key, copy.kept);
      return answer(copy);
    }
    return this.fetches.run(key, (shared) => this.fetchOr(key, copy, fetch, shared), signal);
  }

  /**
   * Keeps a value that the caller made out of one it had read, such as a post with more of its comments. It is as old
   * as the oldest part of it, `fetchedAtMs`; a newer value that came meanwhile stays.
   */
  put(key: string, value: V, fetchedAtMs: number): void {
    const known = this.memory.get(key);
    const knownAtMs = known && ('error' in known ? known.failedAtMs : known.fetchedAtMs);
    if (knownAtMs === undefined || knownAtMs <= fetchedAtMs) this.keep(key, value, fetchedAtMs);
  }

  /** The copy in memory, or else the one on disk: whatever is in memory is at least as new. */
  private copyOf(key: string, known: Kept<V> | KeptFailure | undefined): Copy<V> | undefined {
    if (known) return 'error' in known ? undefined : { kept: known, tier: 'L1_TINYLFU' };
    const { disk } = this.options;
    const found = disk?.cache.get(key);
    if (!disk || !found) return undefined;
    const value = attempt(() => disk.deserialize(found.value));
    if (value === undefined) return undefined;
    const fetchedAtMs = found.storedAtMs;
    const kept = { value, fetchedAtMs, freshForMs: this.options.freshForMs(value, fetchedAtMs) };
    return { kept, tier: 'L2_BADGER' };
  }

  private async fetchOr(
    key: string,
    copy: Copy<V> | undefined,
    fetch: (signal: AbortSignal) => Promise<V>,
    signal: AbortSignal,
  ): Promise<CachedRead<V>> {
    let value: V;
    try {
      value = await fetch(signal);
    } catch (error) {
      // Nobody waits any more; the failure is of our own making and says nothing about the source.
      if (signal.aborted) throw error;
      return this.standIn(key, copy, error);
    }
    return answer({ kept: this.keep(key, value, this.options.clock()), tier: 'MISS' });
  }

  /** Answers the copy instead of a failure, or throws the failure. */
  private standIn(key: string, copy: Copy<V> | undefined, error: unknown): CachedRead<V> {
    const now = this.options.clock();
    const negativeForMs = this.options.negativeForMs(error);
    if (negativeForMs > 0) {
      this.keepFailure(key, { error, failedAtMs: now, negativeForMs });
      throw error;
    }
    if (copy && isWithin(now, copy.kept.fetchedAtMs, this.staleForMs) && this.options.mayServeStale(error)) {
      return { ...answer(copy), degraded: true };
    }
    throw error;
  }

  private keep(key: string, value: V, fetchedAtMs: number): Kept<V> {
    const freshForMs = this.options.freshForMs(value, fetchedAtMs);
    const kept = { value, fetchedAtMs, freshForMs };
    this.keepInMemory(key, kept);
    const { disk } = this.options;
    if (disk) {
      const expiresAtMs = fetchedAtMs + Math.max(freshForMs, this.staleForMs);
      disk.cache.set(key, disk.serialize(value), expiresAtMs, fetchedAtMs);
    }
    return kept;
  }

  private keepInMemory(key: string, kept: Kept<V>): void {
    const bytes = (this.options.bytesOf ?? estimateBytes)(kept.value);
    this.memory.set(key, kept, bytes + 2 * key.length + ENTRY_BYTES);
  }

  private keepFailure(key: string, failure: KeptFailure): void {
    this.memory.set(key, failure, ERROR_BYTES + 2 * key.length + ENTRY_BYTES);
    this.options.disk?.cache.delete(key);
  }
}

function isWithin(now: number, since: number, forMs: number): boolean {
  const age = now - since;
  return age >= 0 && age < forMs;
}

function answer<V>({ kept, tier }: Copy<V>): CachedRead<V> {
  return { value: kept.value, tier, degraded: false, fetchedAtMs: kept.fetchedAtMs };
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
