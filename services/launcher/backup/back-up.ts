import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readEndpoints } from '../../../shared/runtime/endpoints-file.ts';
import { backUpPostgres } from '../engines/postgres/postgres-backup.ts';
import { StartFault } from '../engines/start-fault.ts';
import { SMALL_FILES, writeManifest } from './backup-files.ts';
import type { BackupManifest } from './backup-files.ts';

/**
 * Copies what a running installation cannot do without into a new folder: its embedded PostgreSQL. Nothing stops
 * meanwhile.
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
  const manifest = { v: 1, taken_at: taken } as const;
  writeManifest(folder, manifest);
  return manifest;
}
