import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../shared/runtime/errors.ts';

const STICKY = 0o1000;

/**
 * Creates the data directory, and restricts an existing one, so that only its owner has access. Root runs PostgreSQL as
 * another user: that user may traverse the directory to reach its own folder, but may not list it, and cannot read the
 * other files. A directory of another owner keeps its permissions, such as a volume of a container.
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
  tryToWrite(dataDir);
  if (uid === undefined || uid === 0 || uid === found.uid) chmodSync(dataDir, mode);
}

/**
 * Creates a folder and those above it. `mkdirSync` with `recursive` never ends where a parent exists but takes no
 * folders, as in /proc.
 */
function makeFolders(folder: string, mode: number): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw new Error(`${folder} is not a directory`);
  makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process created it in the meantime.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Permissions alone do not tell: root may do everything, except on a read-only or full file system. */
function tryToWrite(folder: string): void {
  const probe = join(folder, `.write-test-${process.pid}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}
