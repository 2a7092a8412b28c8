import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { open } from 'lmdb';
import { expiryKey, expiryOf, hashOfExpiryKey, occupiedBytes } from './disk-entry.ts';

/** An entry to be written under the hash of its key, or undefined: to be removed. */
export interface Change {
  keyHash: Buffer;
  entry: Buffer | undefined;
}

interface ExpiryRecord {
  key: Buffer;
  value: Buffer;
}

/** Expired entries that one transaction removes beside its own work, so that it stays short. */
const EXPIRED_PER_TRANSACTION = 100;
const EVICTED_AT_ONCE = 16;
const BYTES_KEY = Buffer.from('bytes');
const FIRST_KEY = Buffer.from([0]);
const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/**
 * Entries, the order in which they expire, and the sum of their bytes, in three LMDB databases of one file that change together.
 * The entries' bytes, as `occupiedBytes` counts them, never exceed the bound: whatever expires first makes room.
 *
 * Everything is synchronous, also commits (by `transactionSync`): when an asynchronous commit fails, for example on a full disk, lmdb leaves a
 * rejected promise behind that nobody can catch, and the process would end. Commits do not wait for the disk (`noSync`).
 * What the operating system has taken survives the end of the process, but not of the machine; see openDiskStore.
 */
export class DiskStore {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly entries: Database<Buffer, Buffer>;
  private readonly expiry: Database<Buffer, Buffer>;
  private readonly meta: Database<Buffer, Buffer>;
  private isOpen = true;

  /** @throws when the file cannot be used; a damaged one may end the process, so it is checked first, see check-disk-store-main.ts */
  constructor(folder: string) {
    this.root = open<Buffer, Buffer>({ path: folder, noSubdir: false, noSync: true, maxDbs: 3, ...BINARY });
    this.entries = this.root.openDB({ name: 'entries', ...BINARY });
    this.expiry = this.root.openDB({ name: 'expiry', ...BINARY });
    this.meta = this.root.openDB({ name: 'meta', ...BINARY });
  }

  /** The bytes that all entries occupy. */
  get bytes(): number {
    return this.meta.get(BYTES_KEY)?.readUIntBE(0, 6) ?? 0;
  }

  /** The number of entries, expired ones included. */
  get size(): number {
    return this.entries.getCount();
  }

  get(keyHash: Buffer): Buffer | undefined {
    const data = this.entries.get(keyHash);
    return data && Buffer.from(data.buffer, data.byteOffset, data.length);
  }

  /**
   * Makes all changes in one transaction, or none. Removes entries that have expired at `nowMs`, and evicts those that expire
   * first until the new ones fit. An entry that does not fit at all only removes its predecessor.
   */
  apply(changes: Iterable<Change>, nowMs: number, maxBytes: number): void {
    this.root.transactionSync(() => {
      let bytes = this.bytes;
      for (const record of this.oldest(EXPIRED_PER_TRANSACTION, nowMs + 1)) bytes -= this.removeRecord(record);
      for (const { keyHash, entry } of changes) {
        bytes -= this.remove(keyHash);
        if (!entry) continue;
        const needed = occupiedBytes(entry.length);
        if (needed > maxBytes) continue;
        bytes -= this.evict(bytes + needed - maxBytes);
        this.put(keyHash, entry, needed);
        bytes += needed;
      }
      // A bound that was lowered takes effect with the first change.
      bytes -= this.evict(bytes - maxBytes);
      const sum = Buffer.alloc(6);
      sum.writeUIntBE(bytes, 0, 6);
      this.meta.putSync(BYTES_KEY, sum);
    });
  }

  /** Afterwards the store may not be used; closing again is harmless. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.root.close();
  }

  /** Says what is wrong with the file, or undefined. Reads all keys, no values: those have checksums that are looked at when read. */
  fault(folder: string): string | undefined {
    const { pageSize, lastPageNumber } = this.root.getStats() as { pageSize: number; lastPageNumber: number };
    // Pages behind the end of the file are mapped all the same, and reading them ends the process.
    if (statSync(join(folder, 'data.mdb')).size < (lastPageNumber + 1) * pageSize) return 'the file is too short';
    let records = 0;
    let bytes = 0;
    for (const { key, value } of this.expiry.getRange({ start: FIRST_KEY })) {
      if (!this.entries.doesExist(hashOfExpiryKey(key))) return 'an entry is missing';
      records += 1;
      bytes += value.readUInt32BE(0);
    }
    let entries = 0;
    for (const _ of this.entries.getKeys({ start: FIRST_KEY })) entries += 1;
    if (entries !== records) return 'entries and their order of expiry differ';
    return bytes === this.bytes ? undefined : 'the sum of bytes is wrong';
  }

  private put(keyHash: Buffer, entry: Buffer, occupied: number): void {
    const record = Buffer.alloc(4);
    record.writeUInt32BE(occupied);
    this.entries.putSync(keyHash, entry);
    this.expiry.putSync(expiryKey(expiryOf(entry), keyHash), record);
  }

  /** Returns the bytes that are free now: 0 when there was no such entry. */
  private remove(keyHash: Buffer): number {
    // Not a copy: it is overwritten by the next read, so its expiry is read first.
    const data = this.entries.getBinaryFast(keyHash);
    if (!data) return 0;
    const key = expiryKey(expiryOf(data), keyHash);
    const value = this.expiry.get(key);
    return value ? this.removeRecord({ key, value }) : 0;
  }

  private removeRecord({ key, value }: ExpiryRecord): number {
    this.entries.removeSync(hashOfExpiryKey(key));
    this.expiry.removeSync(key);
    return value.readUInt32BE(0);
  }

  /** Frees at least so many bytes, while there are any; returns how many. */
  private evict(wanted: number): number {
    let freed = 0;
    while (freed < wanted) {
      const oldest = this.oldest(EVICTED_AT_ONCE);
      if (oldest.length === 0) return freed;
      for (const record of oldest) {
        if (freed < wanted) freed += this.removeRecord(record);
      }
    }
    return freed;
  }

  /** The first records in the order of expiry; only those before `beforeMs`, when it is given. */
  private oldest(limit: number, beforeMs?: number): ExpiryRecord[] {
    const end = beforeMs === undefined ? {} : { end: expiryKey(beforeMs) };
    return [...this.expiry.getRange({ start: FIRST_KEY, ...end, limit })];
  }
}
