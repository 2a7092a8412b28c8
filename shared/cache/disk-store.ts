import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { open } from 'lmdb';
import { decodeEntry, expiryKey, expiryOf, hashOfExpiryKey, occupiedBytes } from './disk-entry.ts';

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
const EXPIRED_PER_TRANSACTION = 20;
const EVICTED_AT_ONCE = 16;
const BYTES_KEY = Buffer.from('bytes');
const FIRST_KEY = Buffer.from([0]);
const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/**
 * Entries, the order in which they expire, and the sum of their bytes, in three LMDB databases of one file that change
 * together. The entries' bytes, as `occupiedBytes` counts them, never exceed the bound: whatever expires first makes
 * room.
 *
 * Three ways of using lmdb are left out on purpose:
 *
 * - Asynchronous commits. When one fails, for example on a full disk, a rejected promise is left behind that nobody can
 *   catch, and the process would end. `transactionSync` throws, and everything is as it was before.
 * - Several new entries in one transaction. With those and a long list of free pages, lmdb 3.5 miscounts that list
 *   ("reserved_space larger than allocated entry", MDB_BAD_TXN). With one it did not in a million transactions.
 * - Waiting for the disk (`noSync`). What the operating system has taken survives the end of the process; for the end
 *   of the machine see openDiskStore.
 */
export class DiskStore {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly entries: Database<Buffer, Buffer>;
  private readonly expiry: Database<Buffer, Buffer>;
  private readonly meta: Database<Buffer, Buffer>;
  private isOpen = true;

  /**
   * @throws when the file cannot be used; a damaged one may end the process, so it is checked first, see
   * check-disk-store-main.ts
   */
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
    // Not getCount, which visits every key.
    return (this.entries.getStats() as { entryCount: number }).entryCount;
  }

  get(keyHash: Buffer): Buffer | undefined {
    const data = this.entries.get(keyHash);
    return data && Buffer.from(data.buffer, data.byteOffset, data.length);
  }

  /**
   * Makes one change, or none when it throws. Also removes some of the entries that have expired at `nowMs`, and evicts
   * those that expire first until the new one fits. An entry that does not fit at all only removes its predecessor.
   */
  apply({ keyHash, entry }: Change, nowMs: number, maxBytes: number): void {
    this.root.transactionSync(() => {
      let bytes = this.bytes;
      for (const record of this.oldest(EXPIRED_PER_TRANSACTION, nowMs + 1)) bytes -= this.removeRecord(record);
      bytes -= this.remove(keyHash);
      const occupied = entry ? occupiedBytes(entry.length) : 0;
      const fits = occupied <= maxBytes;
      // Not only for new entries: a bound that was lowered takes effect with the first change.
      bytes -= this.evict(bytes + (fits ? occupied : 0) - maxBytes);
      if (entry && fits) {
        this.put(keyHash, entry, occupied);
        bytes += occupied;
      }
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

  /**
   * Says what is wrong with the file, or undefined. Reads all keys; values have checksums that are looked at when they
   * are read.
   *
   * Behind the end of the file there may rightly be pages, free ones that were never written. But if others were cut
   * off, reading them would end the process. So the file is made as long as it should be, and then the values are read,
   * too.
   */
  fault(folder: string): string | undefined {
    const isShort = this.lengthen(join(folder, 'data.mdb'));
    let records = 0;
    let bytes = 0;
    for (const { key, value } of this.expiry.getRange({ start: FIRST_KEY })) {
      const keyHash = hashOfExpiryKey(key);
      if (!this.entries.doesExist(keyHash)) return 'an entry is missing';
      if (isShort && !decodeEntry(this.get(keyHash)!)) return 'the file is too short';
      records += 1;
      bytes += value.readUInt32BE(0);
    }
    if (records !== this.size) return 'entries and their order of expiry differ';
    return bytes === this.bytes ? undefined : 'the sum of bytes is wrong';
  }

  /** Returns whether the file was shorter than its last page. */
  private lengthen(file: string): boolean {
    const { pageSize, lastPageNumber } = this.root.getStats() as { pageSize: number; lastPageNumber: number };
    const length = (lastPageNumber + 1) * pageSize;
    if (statSync(file).size >= length) return false;
    truncateSync(file, length);
    return true;
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
