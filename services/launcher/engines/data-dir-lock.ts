import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { delay } from '../../../shared/runtime/clock.ts';
import { readJsonFile } from '../../../shared/runtime/endpoints-file.ts';
import { errorCode, errorMessage } from '../../../shared/runtime/errors.ts';
import { StartFault } from './engine.ts';

const STICKY = 0o1000;
const SQLITE_BUSY = 5;

/** What others are told of the owner; the lock itself is SQLite's. */
interface Holder {
  pid?: number;
  state?: 'running' | 'stopping';
}

export interface DataDirLockOptions {
  /** How long to wait for a holder that is stopping. Default 15 s. */
  waitMs?: number;
  progress?: (line: string) => void;
  signal?: AbortSignal;
}

/**
 * SQLite's lock on DATA_DIR/lock.sqlite, which the system releases when the process ends, however it ends.
 * DATA_DIR/lock names the owner while there is one.
 */
export class DataDirLock {
  private readonly path: string;
  private readonly database: DatabaseSync;

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.database = database;
  }

  /**
   * Also creates the directory.
   *
   * @throws StartFault when a running process holds the lock, when a stopping holder does not end in time, or when the
   * directory cannot be written to or locked
   */
  static async acquire(dataDir: string, options: DataDirLockOptions = {}): Promise<DataDirLock> {
    try {
      makeDataDir(dataDir);
    } catch (error) {
      throw new StartFault(`DATA_DIR ${dataDir} cannot be written to: ${errorMessage(error)}`);
    }
    const path = join(dataDir, 'lock');
    const deadline = performance.now() + (options.waitMs ?? 15_000);
    for (let announced = false; ; announced = true) {
      const database = tryLock(dataDir);
      if (database !== undefined) {
        const lock = new DataDirLock(path, database);
        lock.note('running');
        return lock;
      }
      const { pid, state } = (readJsonFile(path) ?? {}) as Holder;
      if (state !== 'stopping') {
        throw new StartFault(
          `${dataDir} is in use by a running installation (pid ${pid}). Stop it first, or choose another DATA_DIR.`,
        );
      }
      if (performance.now() > deadline) {
        throw new StartFault(
          `${dataDir} is in use by an installation that is still stopping (pid ${pid}). Try again in a moment.`,
        );
      }
      if (!announced) options.progress?.(`waiting for the previous installation (pid ${pid}) to stop`);
      await delay(100, options.signal);
      if (options.signal?.aborted === true) throw new StartFault('the start was interrupted');
    }
  }

  /** The next start then waits instead of failing. */
  markStopping(): void {
    this.note('stopping');
  }

  release(): void {
    rmSync(this.path, { force: true });
    this.database.close();
  }

  /** Does nothing where it cannot, as on a full disk: then the next start is refused, and not told to wait. */
  private note(state: Holder['state']): void {
    try {
      writeFileSync(`${this.path}.new`, JSON.stringify({ pid: process.pid, state }), { mode: 0o600 });
      renameSync(`${this.path}.new`, this.path);
    } catch {
      // It is only for messages.
    }
  }
}

/** Undefined when another process has the lock. */
function tryLock(dataDir: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(dataDir, 'lock.sqlite'), { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new StartFault(`DATA_DIR ${dataDir} cannot be locked: ${errorMessage(error)}`);
  }
}

/**
 * Creates or restricts the data directory, so that only its owner has access. Where root runs PostgreSQL as another
 * user, that one may traverse it, but not list it. A directory of another owner keeps its permissions, such as a volume
 * of a container.
 *
 * @throws Error when the directory cannot be created or written to, or is one that all users share
 */
export function makeDataDir(dataDir: string): void {
  const uid = process.getuid?.();
  const mode = uid === 0 ? 0o711 : 0o700;
  makeFolders(dataDir, mode);
  // Its permissions must not change.
  const found = statSync(dataDir);
  if (dirname(dataDir) === dataDir || (found.mode & STICKY) !== 0) {
    throw new Error('it is shared by the whole system; choose a directory of its own');
  }
  // Permissions alone do not tell: root may do everything, except on a read-only or full file system.
  const probe = join(dataDir, `.write-test-${process.pid}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
  if (uid === undefined || uid === 0 || uid === found.uid) chmodSync(dataDir, mode);
}

/** `mkdirSync` with `recursive` never ends where a parent exists but takes no folders, as in /proc. */
function makeFolders(folder: string, mode: number): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
