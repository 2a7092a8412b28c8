import { hash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { SingleFlight } from '../../../shared/runtime/single-flight.ts';

/** Where a value came from, as in the header X-Cache-Tier. */
export type CacheTier = 'L1_TINYLFU' | 'L2_BADGER' | 'MISS';

/** The result of a read. All readers share the value, so it must not be changed. */
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
  /** A second level that outlives the process; absent: values are in memory only. */
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
    this.setInMemory(key, stored, (this.options.bytesOf ?? estimateBytes)(stored.value));
  }

  private storeFailure(key: string, failure: StoredFailure): void {
    this.setInMemory(key, failure, ERROR_BYTES);
    this.options.disk?.cache.delete(key);
  }

  private setInMemory(key: string, entry: StoredValue<V> | StoredFailure, bytes: number): void {
    this.memory.set(key, entry, { size: Math.ceil(bytes) + 2 * key.length + ENTRY_BYTES });
    this.options.onBytes?.(this.memory.calculatedSize);
  }
}

function isWithin(now: number, since: number, forMs: number): boolean {
  // A time in the future comes from a process whose clock was ahead; its value would be served until then.
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
function estimateBytes(value: unknown): number {
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

export interface DiskCacheDeps {
  /** Created if missing. Belongs to this cache and this process alone. */
  folder: string;
  /** The file never grows beyond it. */
  maxBytes: number;
  /** Version of the values, a whole number; default 1. A cache with another version starts empty. */
  format?: number;
  clock: Clock;
  /** Receives every problem, for the log. No problem fails a call. */
  onProblem: (message: string, error?: unknown) => void;
}

interface Row {
  value: Uint8Array;
  stored_at: number;
  expires_at: number;
  checksum: number;
}

interface Store {
  database: DatabaseSync;
  read: StatementSync;
  write: StatementSync;
  remove: StatementSync;
  removeExpired: StatementSync;
  evict: StatementSync;
}

const FILE = 'entries.sqlite';
const PAGE_BYTES = 4096;
const MIN_EVICTED = 16;

/** Result codes of SQLite, https://sqlite.org/rescode.html; the upper bytes of an error's code say more. */
const ERROR = 1;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/**
 * A cache on disk (SQLite), bounded by bytes, whose entries expire. The entries that expire first are evicted first. It
 * outlives the process.
 *
 * Reads and writes are synchronous. A failing disk loses entries and never fails a request: `get` then finds nothing,
 * and `set` and `delete` do nothing. A damaged file is replaced by an empty one.
 *
 * Nothing waits for the disk (`synchronous = OFF`), so a machine that loses power can leave any bytes in the file.
 * SQLite detects a damaged structure, and a checksum in each entry damaged content.
 */
export class DiskCache {
  private readonly options: DiskCacheDeps;
  /** Undefined: the folder is unusable, or the cache is closed. */
  private store: Store | undefined;
  /** Problems are reported when they begin and end, not for each of a thousand requests. */
  private readonly failing = { read: false, written: false };

  /** Uses the file of an earlier process if there is one. Never throws: without a usable folder it stores nothing. */
  constructor(options: DiskCacheDeps) {
    this.options = options;
    try {
      mkdirSync(options.folder, { recursive: true });
      this.store = openStore(options);
    } catch (error) {
      // ERROR of our statements means that the header or the schema of the file is not what we wrote.
      if (isDamage(error) || resultCode(error) === ERROR) this.startEmpty(error);
      else options.onProblem('the disk cache cannot be used; values are kept in memory only', error);
    }
  }

  /** The value; undefined when there is none, it has expired, or it cannot be read. */
  get(key: string): { value: Buffer; storedAtMs: number } | undefined {
    const id = idOf(key);
    const row = this.try('read', ({ read }) => read.get(id)) as Row | undefined;
    if (row === undefined || this.options.clock() >= row.expires_at) return undefined;
    const value = Buffer.from(row.value.buffer, row.value.byteOffset, row.value.length);
    if (row.checksum === checksumOf(id, value, row.stored_at, row.expires_at)) {
      return { value, storedAtMs: row.stored_at };
    }
    this.options.onProblem('a damaged entry of the disk cache was removed');
    this.delete(key);
    return undefined;
  }

  /**
   * Stores a value. One that is larger than the limit is not stored.
   *
   * @param expiresAtMs end of the entry's life; milliseconds since 1970, like all times here
   * @param storedAtMs returned by `get`; default: now
   */
  set(key: string, value: Buffer, expiresAtMs: number, storedAtMs = this.options.clock()): void {
    const id = idOf(key);
    if (value.length > this.options.maxBytes / 2) {
      this.delete(key);
      return;
    }
    const [storedAt, expiresAt] = [Math.floor(storedAtMs), Math.floor(expiresAtMs)];
    this.try('written', ({ write, removeExpired, evict }) => {
      removeExpired.run(this.options.clock());
      // Doubles each time, so that a large value needs few attempts however small the evicted entries are.
      for (let entries = MIN_EVICTED; ; entries *= 2) {
        try {
          return write.run(id, value, storedAt, expiresAt, checksumOf(id, value, storedAt, expiresAt));
        } catch (error) {
          if (resultCode(error) !== FULL || evict.run(entries).changes === 0) throw error;
        }
      }
    });
  }

  delete(key: string): void {
    this.try('written', ({ remove }) => remove.run(idOf(key)));
  }

  /** Afterwards the cache finds and stores nothing. */
  close(): void {
    const { store } = this;
    this.store = undefined;
    try {
      store?.database.close();
    } catch (error) {
      this.options.onProblem('the disk cache was not closed properly', error);
    }
  }

  private try<T>(what: 'read' | 'written', use: (store: Store) => T): T | undefined {
    if (this.store === undefined) return undefined;
    try {
      const result = use(this.store);
      this.report(what);
      return result;
    } catch (error) {
      if (isDamage(error)) this.startEmpty(error);
      else this.report(what, error);
      return undefined;
    }
  }

  private startEmpty(damage: unknown): void {
    const { options } = this;
    this.close();
    try {
      for (const suffix of ['', '-wal', '-journal']) rmSync(join(options.folder, FILE + suffix), { force: true });
      this.store = openStore(options);
      options.onProblem('the disk cache starts empty, because its file is damaged', damage);
    } catch (error) {
      options.onProblem('the disk cache cannot be used; values are kept in memory only', error);
    }
  }

  private report(what: 'read' | 'written', error?: unknown): void {
    const isFailing = error !== undefined;
    if (isFailing === this.failing[what]) return;
    this.failing[what] = isFailing;
    if (isFailing) this.options.onProblem(`the disk cache cannot be ${what}`, error);
    else this.options.onProblem(`the disk cache can be ${what} again`);
  }
}

/** @throws when the folder is unusable, another process has the file, or the file is damaged */
function openStore({ folder, maxBytes, format = 1 }: DiskCacheDeps): Store {
  const database = new DatabaseSync(join(folder, FILE));
  try {
    // Exclusive: the index of the log then needs no file in shared memory, whose loss would end the process.
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      PRAGMA max_page_count = ${Math.max(8, Math.floor(maxBytes / PAGE_BYTES))};`);
    if (database.prepare('PRAGMA user_version').get()!['user_version'] !== format) {
      database.exec('DROP TABLE IF EXISTS entries');
      database.exec(`PRAGMA user_version = ${format}`);
    }
    database.exec(`
      CREATE TABLE IF NOT EXISTS entries
        (id BLOB PRIMARY KEY, value BLOB NOT NULL, stored_at INTEGER, expires_at INTEGER, checksum INTEGER);
      CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at);`);
    return {
      database,
      read: database.prepare('SELECT value, stored_at, expires_at, checksum FROM entries WHERE id = ?'),
      write: database.prepare('INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)'),
      remove: database.prepare('DELETE FROM entries WHERE id = ?'),
      removeExpired: database.prepare(
        `DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expires_at <= ? ORDER BY expires_at LIMIT 20)`,
      ),
      evict: database.prepare(
        'DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY expires_at LIMIT ?)',
      ),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Keys of any length cost the same. In UTF-8 all lone surrogates would become the same character. */
function idOf(key: string): Buffer {
  return hash('sha256', Buffer.from(key, 'utf16le'), 'buffer');
}

function checksumOf(id: Buffer, value: Buffer, storedAt: number, expiresAt: number): number {
  return crc32(`${storedAt} ${expiresAt}`, crc32(value, crc32(id)));
}

function resultCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}

function isDamage(error: unknown): boolean {
  return [CORRUPT, NOT_A_DATABASE].includes(resultCode(error));
}
