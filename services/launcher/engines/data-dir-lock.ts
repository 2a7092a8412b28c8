import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { delay } from '../../../shared/runtime/clock.ts';
import { errorCode, errorMessage } from '../../../shared/runtime/errors.ts';
import { makeDataDir } from './make-data-dir.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';
import { StartFault } from './start-fault.ts';

interface Holder {
  pid: number;
  startedAt: string;
  state: 'running' | 'stopping';
}

export interface DataDirLockOptions {
  /** How long to wait for a holder that is stopping. Default 15 s. */
  waitMs?: number;
  progress?: (line: string) => void;
  /** Aborting it ends the wait. */
  signal?: AbortSignal;
}

/**
 * The lock of the one process that owns a data directory. It is the file DATA_DIR/lock, created by a hard link, which
 * fails if the file exists. The file remains after a kill -9; the next start sees that its process (pid and start time)
 * is gone and takes the lock over.
 */
export class DataDirLock {
  private readonly path: string;
  private readonly self: Holder;

  private constructor(path: string, self: Holder) {
    this.path = path;
    this.self = self;
  }

  /**
   * Acquires the lock and creates the directory if it is missing.
   *
   * @throws StartFault when a running process holds the lock, when a stopping holder does not end in time, when the
   * lock cannot be read, or when the directory is not writable.
   */
  static async acquire(dataDir: string, options: DataDirLockOptions = {}): Promise<DataDirLock> {
    const path = join(dataDir, 'lock');
    const self: Holder = {
      pid: process.pid,
      startedAt: identifyProcess(process.pid)?.startedAt ?? '',
      state: 'running',
    };
    const deadline = performance.now() + (options.waitMs ?? 15_000);
    let announced = false;
    while (!attempt(dataDir, path, self)) {
      const holder = readHolder(path);
      if (holder === undefined || !isAlive(holder)) {
        removeStale(path, holder);
        continue;
      }
      if (holder.state === 'running') {
        throw new StartFault(
          `${dataDir} is in use by a running installation (pid ${holder.pid}). Stop it first, or choose another DATA_DIR.`,
        );
      }
      if (performance.now() > deadline) {
        throw new StartFault(
          `${dataDir} is in use by an installation that is still stopping (pid ${holder.pid}). Try again in a moment.`,
        );
      }
      if (!announced) options.progress?.(`waiting for the previous installation (pid ${holder.pid}) to stop`);
      announced = true;
      await delay(100, options.signal);
      if (options.signal?.aborted === true) throw new StartFault('the start was interrupted');
    }
    return new DataDirLock(path, self);
  }

  /** Marks the holder as stopping, so that the next start waits instead of failing. On a full disk it does nothing. */
  markStopping(): void {
    try {
      writeFileSync(`${this.path}.new`, JSON.stringify({ ...this.self, state: 'stopping' }));
      renameSync(`${this.path}.new`, this.path);
    } catch {
      // A stop must not fail here: the next start is refused for as long as it takes, and not told to wait.
    }
  }

  release(): void {
    rmSync(this.path, { force: true });
  }
}

function attempt(dataDir: string, path: string, self: Holder): boolean {
  const mine = `${path}.${self.pid}`;
  try {
    makeDataDir(dataDir);
    writeFileSync(mine, JSON.stringify(self), { mode: 0o600 });
  } catch (error) {
    throw new StartFault(`DATA_DIR ${dataDir} cannot be written to: ${errorMessage(error)}`);
  }
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new StartFault(`DATA_DIR ${dataDir} cannot be locked: ${errorMessage(error)}`);
  } finally {
    rmSync(mine, { force: true });
  }
}

function isAlive(holder: Holder): boolean {
  return identifyProcess(holder.pid)?.startedAt === holder.startedAt;
}

/**
 * Removes the lock of a dead holder. If several starts do this at once, one moves the file away; a start that moved a
 * newer file by mistake restores it.
 */
function removeStale(path: string, stale: Holder | undefined): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (!isStale(aside, stale)) {
    try {
      linkSync(aside, path);
    } catch {
      // A third start has acquired the lock by now and refuses the others.
    }
  }
  rmSync(aside, { force: true });
}

function isStale(path: string, stale: Holder | undefined): boolean {
  try {
    const found = readHolder(path);
    return found === undefined || (found.pid === stale?.pid && found.startedAt === stale.startedAt);
  } catch {
    return false;
  }
}

/** Undefined for a lock that is gone or broken. @throws StartFault when it cannot be read: its holder may be alive */
function readHolder(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new StartFault(
      `${path} cannot be read (${errorMessage(error)}): an installation of another user may be running. Stop it first, or choose another DATA_DIR.`,
    );
  }
  try {
    const { pid, startedAt, state } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== 'number' || typeof startedAt !== 'string') return undefined;
    return { pid, startedAt, state: state === 'stopping' ? 'stopping' : 'running' };
  } catch {
    return undefined;
  }
}
