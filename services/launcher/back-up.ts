import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { backUpPostgres } from './engines/postgres/postgres-backup.ts';
import { StartFault } from './engines/engine.ts';

/** Small files of a data directory that belong to a backup, where they exist: all of a trial on the simulated forum. */
export const SMALL_FILES = ['demo-key', 'simulator.json'];

const FILE = 'backup.json';

const manifest = z.object({
  v: z.literal(1),
  /** When the backup began; it holds all that was committed until then, and more. */
  taken_at: z.iso.datetime(),
});

type BackupManifest = z.infer<typeof manifest>;

/**
 * Copies the embedded PostgreSQL of a running installation into a new folder; nothing stops meanwhile.
 *
 * @throws StartFault when none runs, its PostgreSQL is a named server, or the folder is in use
 */
export async function backUp({ dataDir }: Pick<Config, 'dataDir'>, folder: string): Promise<BackupManifest> {
  const endpoints = readEndpoints(dataDir);
  if (endpoints === undefined) {
    throw new StartFault(
      `No service is running with DATA_DIR ${dataDir}. Start one with "npm start", or set DATA_DIR.`,
    );
  }
  if (!endpoints.embedded.includes('postgres')) {
    throw new StartFault('PostgreSQL is a server of your own: see deploy/backup/README.md for pg_dump and restoring.');
  }
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new StartFault(`${folder} is not empty.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const taken = new Date(systemClock()).toISOString();
  await backUpPostgres(endpoints.postgres, dataDir, folder);
  for (const file of SMALL_FILES.filter((name) => existsSync(join(dataDir, name)))) {
    copyFileSync(join(dataDir, file), join(folder, file));
  }
  const written = { v: 1, taken_at: taken } as const;
  // Last: a folder without it is no complete backup.
  writeFileSync(join(folder, FILE), `${JSON.stringify(written)}\n`, { mode: 0o600 });
  return written;
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
