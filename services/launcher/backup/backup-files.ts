import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StartFault } from '../engines/start-fault.ts';

/** Small files of a data directory that belong to a backup, where they exist: all of a trial on the simulated forum. */
export const SMALL_FILES = ['demo-key', 'simulator.json'];

const FILE = 'backup.json';

const manifest = z.object({
  v: z.literal(1),
  /** When the backup began; it holds all that was committed until then, and more. */
  taken_at: z.iso.datetime(),
});

export type BackupManifest = z.infer<typeof manifest>;

/** Written last: a folder without it is no complete backup. */
export function writeManifest(folder: string, content: BackupManifest): void {
  writeFileSync(join(folder, FILE), `${JSON.stringify(content)}\n`, { mode: 0o600 });
}

/** @throws StartFault when the folder is no complete backup */
export function readManifest(folder: string): BackupManifest {
  const path = join(folder, FILE);
  if (!existsSync(path)) throw new StartFault(`${folder} is no complete backup: it has no ${FILE}.`);
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new StartFault(`${path} is not of a backup that this version can read.`);
  }
}
