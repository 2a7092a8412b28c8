import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { open } from 'lmdb';
import { decodeEntry, expiryKey, expiryOf, hashOfExpiryKey, occupiedBytes } from './disk-entry.ts';

/** An entry to write under the hash of its key; undefined: remove the entry. */
export interface Change {
  keyHash: Buffer;
  entry: Buffer | undefined;
}

interface ExpiryRecord {
  key: Buffer;
  value: Buffer;
}

/** Expired entries that one transaction also removes, few enough to keep it short. */
const EXPIRED_PER_TRANSACTION = 20;
const EVICTED_AT_ONCE = 16;
const BYTES_KEY = Buffer.from('bytes');
const FIRST_KEY = Buffer.from([0]);
const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/**
 * Entries, their order of expiry, and the sum of their bytes, in three LMDB databases of one file that change together.
 * The bytes of the entries, as `occupiedBytes` counts them, never exceed the limit: the entries that expire first are
 * evicted.
 *
 * Three features of lmdb are avoided on purpose:
 *
 * - Asynchronous commits. When one fails, for example on a full disk, it leaves a rejected promise that nobody can
 *   catch, and the process would end. `transactionSync` throws and changes nothing.
 * - Several new entries in one transaction. With them and a long list of free pages, lmdb 3.5 miscounts that list
 *   ("reserved_space larger than allocated entry", MDB_BAD_TXN). With one entry it did not in a million transactions.
 * - Waiting for the disk (`noSync`). Data that the operating system accepted survives the end of the process; for the
 *   end of the machine see openDiskStore.
 */
export class DiskStore {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly entries: Database<Buffer, Buffer>;
  private readonly expiry: Database<Buffer, Buffer>;
  private readonly meta: Database<Buffer, Buffer>;
  private isOpen = true;

  /**
   * @throws when the file is unusable. A damaged file may end the process, so check it first, see
   * check-disk-store-main.ts
   */
  constructor(folder: string) {
    this.root = open<Buffer, Buffer>({ path: folder, noSubdir: false, noSync: true, maxDbs: 3, ...BINARY });
    this.entries = this.root.openDB({ name: 'entries', ...BINARY });
    this.expiry = this.root.openDB({ name: 'expiry', ...BINARY });
    this.meta = this.root.openDB({ name: 'meta', ...BINARY });
  }

  /** Bytes that all entries occupy. */
  get bytes(): number {
    return this.meta.get(BYTES_KEY)?.readUIntBE(0, 6) ?? 0;
  }

  /** Number of entries, expired ones included. */
  get size(): number {
    // getCount would visit every key.
    return (this.entries.getStats() as { entryCount: number }).entryCount;
  }

  get(keyHash: Buffer): Buffer | undefined {
    const data = this.entries.get(keyHash);
    return data && Buffer.from(data.buffer, data.byteOffset, data.length);
  }

  /**
   * Applies one change, or nothing when it throws. Also removes some entries that have expired at `nowMs`, and evicts
   * the entries that expire first until the new one fits. An entry larger than the limit only removes its predecessor.
   */
  apply({ keyHash, entry }: Change, nowMs: number, maxBytes: number): void {
    this.root.transactionSync(() => {
      let bytes = this.bytes;
      for (const record of this.oldest(EXPIRED_PER_TRANSACTION, nowMs + 1)) bytes -= this.removeRecord(record);
      bytes -= this.remove(keyHash);
      const occupied = entry ? occupiedBytes(entry.length) : 0;
      const fits = occupied <= maxBytes;
      // Also without a new entry, so that a lowered limit takes effect with the first change.
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

  /** Closes the store, which may not be used afterwards. Closing again does nothing. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.root.close();
  }

  /**
   * Finds a fault of the file; undefined when it is sound. Reads all keys. Values have checksums that are checked when
   * they are read.
   *
   * A sound file may end before its last page when the missing pages are free and were never written. But reading any
   * other missing page would end the process. So a short file is extended to its full length, and then all values are
   * read too.
   */
  findFault(folder: string): string | undefined {
    const isShort = this.extendToLastPage(join(folder, 'data.mdb'));
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

  /**
   * Extends the file to its last page.
   *
   * @returns whether it was shorter
   */
  private extendToLastPage(file: string): boolean {
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

  /**
   * Removes an entry.
   *
   * @returns the bytes freed; 0 when there was no such entry
   */
  private remove(keyHash: Buffer): number {
    // Not a copy: the next read overwrites it, so its expiry is read first.
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

  /**
   * Evicts entries until at least this many bytes are free, or none is left.
   *
   * @returns the bytes freed
   */
  private evict(bytesNeeded: number): number {
    let freed = 0;
    while (freed < bytesNeeded) {
      const oldest = this.oldest(EVICTED_AT_ONCE);
      if (oldest.length === 0) return freed;
      for (const record of oldest) {
        if (freed < bytesNeeded) freed += this.removeRecord(record);
      }
    }
    return freed;
  }

  /** The first records in the order of expiry; with `beforeMs` only those before it. */
  private oldest(limit: number, beforeMs?: number): ExpiryRecord[] {
    const end = beforeMs === undefined ? {} : { end: expiryKey(beforeMs) };
    return [...this.expiry.getRange({ start: FIRST_KEY, ...end, limit })];
  }
}
