import { hash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Clock } from '../../../shared/runtime/clock.ts';

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
const FEWEST_EVICTED = 16;

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
 * Nothing waits for the disk (`synchronous = OFF`), so a machine that loses its power may leave any bytes in the file.
 * SQLite tells a damaged structure, and each entry has a checksum.
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
      // Of our statements: the header or the schema of the file is not what we wrote.
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
      // Twice as many each time: a large value is tried a few times, not once for every sixteen small ones.
      for (let entries = FEWEST_EVICTED; ; entries *= 2) {
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
