import type { Clock } from '../runtime/clock.ts';
import { decodeEntry, encodeEntry, hashOfKey } from './disk-entry.ts';
import type { Change, DiskStore } from './disk-store.ts';
import { closeDiskStore, openDiskStore } from './open-disk-store.ts';

export interface DiskCacheDeps {
  /** Created if missing. Belongs to this cache and this process alone. */
  folder: string;
  /** Bytes that entries may occupy. The file grows larger, see the README: count on 1.4 times as much. */
  maxBytes: number;
  /** Version of the values, a whole number; default 1. A cache with another version starts empty. */
  format?: number;
  clock: Clock;
  /** Receives every problem, for the log. No problem fails a call. */
  onProblem: (message: string, error?: unknown) => void;
}

/** Bytes written in one turn of the event loop; the rest waits for the next turn. */
const BYTES_PER_TURN = 1_000_000;

/**
 * A cache on disk (LMDB), bounded by bytes, whose entries expire. The entries that expire first are evicted first. It
 * outlives the process.
 *
 * Reads are synchronous. Writes are collected, the last one for each key, and written in the next turn of the event
 * loop. A read sees all earlier writes. A failing disk loses entries and never fails a request: `get` then finds
 * nothing, and `set` and `delete` do nothing.
 */
export class DiskCache {
  private readonly options: Required<DiskCacheDeps>;
  /** undefined: the folder is unusable, or the cache is closed. */
  private store: DiskStore | undefined;
  /** Changes not yet written, by the hash of their key. */
  private readonly pending = new Map<string, Change>();
  private isScheduled = false;
  /** Problems are reported when they begin and end, not for each of a thousand requests. */
  private readonly failing = { read: false, write: false };

  private constructor(options: Required<DiskCacheDeps>, store: DiskStore | undefined) {
    this.options = options;
    this.store = store;
  }

  /**
   * Opens the cache and reuses the files of an earlier process if they are sound, see openDiskStore. Never rejects:
   * without a usable folder the cache stores nothing.
   */
  static async open(options: DiskCacheDeps): Promise<DiskCache> {
    const all = { format: 1, ...options };
    try {
      return new DiskCache(all, await openDiskStore(all));
    } catch (error) {
      options.onProblem('the disk cache cannot be used; values are kept in memory only', error);
      return new DiskCache(all, undefined);
    }
  }

  /**
   * Whether what was set can be expected on the disk: the folder is usable, the cache is open, and the last read and
   * the last write did not fail. Otherwise callers need copies of their own.
   */
  get holdsValues(): boolean {
    return this.store !== undefined && !this.failing.read && !this.failing.write;
  }

  /** Bytes that the written entries occupy in the file. */
  get bytes(): number {
    return this.store?.bytes ?? 0;
  }

  /** Number of written entries. */
  get size(): number {
    return this.store?.size ?? 0;
  }

  /** The value; undefined when there is none, it has expired, or it cannot be read. */
  get(key: string): { value: Buffer; storedAtMs: number } | undefined {
    if (!this.store) return undefined;
    const keyHash = hashOfKey(key);
    const data = this.readData(this.store, keyHash);
    if (!data) return undefined;
    const entry = decodeEntry(data);
    if (entry && this.options.clock() < entry.expiresAtMs) {
      return { value: entry.value, storedAtMs: entry.storedAtMs };
    }
    if (!entry) this.options.onProblem('a damaged entry of the disk cache was removed');
    this.enqueue(keyHash, undefined);
    return undefined;
  }

  /**
   * Stores a value.
   *
   * @param expiresAtMs end of the entry's life; milliseconds since 1970, like all times here
   * @param storedAtMs returned by `get`; default: now
   */
  set(key: string, value: Buffer, expiresAtMs: number, storedAtMs = this.options.clock()): void {
    this.enqueue(hashOfKey(key), encodeEntry({ value, storedAtMs, expiresAtMs }));
  }

  delete(key: string): void {
    this.enqueue(hashOfKey(key), undefined);
  }

  /** Writes all pending changes now. */
  flush(): void {
    while (this.store && this.pending.size > 0) this.writeSome(this.store);
  }

  /** Writes the pending changes, and the file to the disk. Afterwards the cache finds and stores nothing. */
  async close(): Promise<void> {
    const { store } = this;
    if (!store) return;
    this.flush();
    this.store = undefined;
    try {
      await closeDiskStore(store, this.options);
    } catch (error) {
      this.options.onProblem('the disk cache was not closed properly', error);
    }
  }

  private readData(store: DiskStore, keyHash: Buffer): Buffer | undefined {
    const change = this.pending.get(keyHash.toString('latin1'));
    if (change) return change.entry;
    try {
      const data = store.get(keyHash);
      this.report('read', undefined);
      return data;
    } catch (error) {
      this.report('read', error);
      return undefined;
    }
  }

  private enqueue(keyHash: Buffer, entry: Buffer | undefined): void {
    if (!this.store) return;
    this.pending.set(keyHash.toString('latin1'), { keyHash, entry });
    this.scheduleWrite();
  }

  private scheduleWrite(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (!this.store || this.pending.size === 0) return;
      this.writeSome(this.store);
      if (this.pending.size > 0) this.scheduleWrite();
    });
  }

  /** Writes one turn's worth of pending changes. A change that fails is dropped; the next one may succeed. */
  private writeSome(store: DiskStore): void {
    let bytes = 0;
    for (const [name, change] of this.pending) {
      if (bytes >= BYTES_PER_TURN) break;
      this.pending.delete(name);
      bytes += change.entry?.length ?? 0;
      try {
        store.apply(change, this.options.clock(), this.options.maxBytes);
        this.report('write', undefined);
      } catch (error) {
        this.report('write', error);
      }
    }
  }

  private report(what: 'read' | 'write', error: unknown): void {
    const isFailing = error !== undefined;
    if (isFailing === this.failing[what]) return;
    this.failing[what] = isFailing;
    if (isFailing) this.options.onProblem(`the disk cache cannot be ${what === 'read' ? 'read' : 'written'}`, error);
    else this.options.onProblem(`the disk cache can be ${what === 'read' ? 'read' : 'written'} again`);
  }
}
