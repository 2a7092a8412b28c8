import type { Clock } from '../runtime/clock.ts';
import { decodeEntry, encodeEntry, hashOfKey } from './disk-entry.ts';
import type { Change, DiskStore } from './disk-store.ts';
import { closeDiskStore, openDiskStore } from './open-disk-store.ts';

export interface DiskCacheDeps {
  /** Made if need be. Belongs to this cache and this process alone. */
  folder: string;
  /** The bytes that entries may occupy. The file becomes larger, see the README: count on 1.4 times as much. */
  maxBytes: number;
  /** The version of what the values hold, a whole number; a cache with another one starts empty. 1 unless given. */
  format?: number;
  clock: Clock;
  /** Told about everything that goes wrong, for the log. Nothing of it fails a call. */
  onProblem: (message: string, error?: unknown) => void;
}

/** When so much has been written in one turn of the event loop, the rest has to wait for the next. */
const BYTES_PER_TURN = 1_000_000;

/**
 * Values on disk (LMDB), with an expiry each, bounded by bytes: those that expire first make room. It outlives the
 * process.
 *
 * Reads are synchronous; writes are collected, the last one for each key, and written in the next turn of the event
 * loop. A read sees what was set before it. A disk that fails loses entries and never a request: `get` then finds
 * nothing, `set` and `delete` do nothing.
 */
export class DiskCache {
  private readonly options: Required<DiskCacheDeps>;
  /** undefined: the folder could not be used, or the cache is closed. */
  private store: DiskStore | undefined;
  /** Changes not yet written, by the hash of their key. */
  private readonly pending = new Map<string, Change>();
  private isScheduled = false;
  /** Problems are told when they begin and end, not for each of a thousand requests. */
  private readonly failing = { read: false, write: false };

  private constructor(options: Required<DiskCacheDeps>, store: DiskStore | undefined) {
    this.options = options;
    this.store = store;
  }

  /**
   * Takes over what an earlier process left in the folder, if it is sound, see openDiskStore. Never rejects: without a
   * usable folder the cache keeps nothing.
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

  /** The bytes that the written entries occupy in the file. */
  get bytes(): number {
    return this.store?.bytes ?? 0;
  }

  /** The number of written entries. */
  get size(): number {
    return this.store?.size ?? 0;
  }

  /** The value, unless there is none, it has expired, or it cannot be read. */
  get(key: string): { value: Buffer; storedAtMs: number } | undefined {
    if (!this.store) return undefined;
    const keyHash = hashOfKey(key);
    const data = this.readData(this.store, keyHash);
    if (!data) return undefined;
    const entry = decodeEntry(data);
    if (entry && this.options.clock() < entry.expiresAtMs) {
      return { value: entry.value, storedAtMs: entry.storedAtMs };
    }
    if (!entry) this.options.onProblem('an entry of the disk cache is damaged and was removed');
    this.change(keyHash, undefined);
    return undefined;
  }

  /**
   * @param expiresAtMs from then on the entry is not found any more; milliseconds since 1970, as all times here
   * @param storedAtMs what `get` tells; now unless given
   */
  set(key: string, value: Buffer, expiresAtMs: number, storedAtMs = this.options.clock()): void {
    this.change(hashOfKey(key), encodeEntry({ value, storedAtMs, expiresAtMs }));
  }

  delete(key: string): void {
    this.change(hashOfKey(key), undefined);
  }

  /** Writes all that is pending now. */
  flush(): void {
    while (this.store && this.pending.size > 0) this.writeSome(this.store);
  }

  /** Writes what is pending, and the file to the disk. Afterwards nothing is found or kept. */
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

  private change(keyHash: Buffer, entry: Buffer | undefined): void {
    if (!this.store) return;
    this.pending.set(keyHash.toString('latin1'), { keyHash, entry });
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (!this.store || this.pending.size === 0) return;
      this.writeSome(this.store);
      if (this.pending.size > 0) this.schedule();
    });
  }

  /** What cannot be written is given up: the next change may fare better. */
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
