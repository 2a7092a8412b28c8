import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { prepareRestored } from '../../shared/maintenance/restored-numbers.ts';
import { opensSealed, secretBoxOf, secretKeys } from '../../shared/maintenance/settings.ts';
import type { SecretKeySettings } from '../../shared/maintenance/settings.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { DataDirLock, makeDataDir } from './engines/data-dir-lock.ts';
import { startEngines } from './engines/embedded-engines.ts';
import { StartFault } from './engines/engine.ts';
import { backUpPostgres, restorePostgres } from './engines/postgres/postgres-backup.ts';

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
    throw new StartFault('PostgreSQL is a server of your own: see docs/operate/backup.md for pg_dump and restoring.');
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

export interface Restored {
  taken_at: string;
  /** The number of monitors whose match numbers continue, after a jump. */
  monitors: number;
}

/**
 * Restores into a data directory without PostgreSQL and Kafka. The database is put in its place once its counters are
 * raised, so that no service assigns a number twice; an interrupted restoration starts over.
 *
 * @throws StartFault when the directory is in use, the folder is no backup, or SECRET_KEY does not open its secrets
 */
export async function restore(
  config: Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyPrevious'>,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Restored> {
  const { taken_at } = readManifest(folder);
  const { dataDir } = config;
  const lock = await DataDirLock.acquire(dataDir);
  try {
    for (const engine of ['postgres', 'kafka']) {
      if (existsSync(join(dataDir, engine))) {
        throw new StartFault(`${join(dataDir, engine)} exists: a backup is restored into an empty DATA_DIR.`);
      }
    }
    const staging = join(dataDir, 'restoring');
    rmSync(staging, { recursive: true, force: true });
    makeDataDir(staging);
    restorePostgres(folder, staging, env);
    const monitors = await prepare(staging, config, env);
    for (const file of SMALL_FILES.filter((name) => existsSync(join(folder, name)))) {
      copyFileSync(join(folder, file), join(dataDir, file));
    }
    renameSync(join(staging, 'postgres'), join(dataDir, 'postgres'));
    rmSync(staging, { recursive: true, force: true });
    return { taken_at, monitors };
  } finally {
    lock.release();
  }
}

/** Starts the restored server by itself, and prepares its database for the services. */
async function prepare(dataDir: string, settings: SecretKeySettings, env: NodeJS.ProcessEnv): Promise<number> {
  const engines = await startEngines({ dataDir, env, engines: ['postgres'] });
  const pool = createPool({ url: engines.urls.postgres, name: 'restore', logger: createLogger('silent'), max: 1 });
  try {
    // Without a known key a new one is made, which opens nothing.
    if ((await opensSealed(pool, secretBoxOf(await secretKeys(pool, settings)))) === false) {
      throw new StartFault('The secrets of this backup were sealed with another SECRET_KEY: set the one of that time.');
    }
    return await prepareRestored(pool);
  } finally {
    await pool.end();
    await engines.stop();
  }
}
