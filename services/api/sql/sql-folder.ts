import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Longer than any statement. */
const LEFT_AFTER_MS = 3_600_000;

/** Makes the folder of statements, and removes what a process that died has left in it; others may run there now. */
export function openSqlFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAt > LEFT_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
  return folder;
}
