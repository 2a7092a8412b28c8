import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { prepareRestored } from '../../shared/maintenance/restored-numbers.ts';
import { opensSealed, secretBoxOf, secretKeys } from '../../shared/maintenance/settings.ts';
import type { SecretKeySettings } from '../../shared/maintenance/settings.ts';
import { DataDirLock, makeDataDir } from './engines/data-dir-lock.ts';
import { startEngines } from './engines/embedded-engines.ts';
import { restorePostgres } from './engines/postgres/postgres-backup.ts';
import { StartFault } from './engines/engine.ts';
import { readManifest, SMALL_FILES } from './back-up.ts';

export interface Restored {
  taken_at: string;
  /** Whose matches are numbered on, after a jump. */
  monitors: number;
}

/**
 * Restores into a data directory without PostgreSQL and Kafka. The database is put in its place when its counters are
 * raised, so that no service can give numbers again; an interrupted restoration starts over.
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

/** Starts the restored server by itself, and makes its database one that may go on. */
async function prepare(dataDir: string, settings: SecretKeySettings, env: NodeJS.ProcessEnv): Promise<number> {
  const engines = await startEngines({ dataDir, env, engines: ['postgres'] });
  const pool = createPool({ url: engines.urls.postgres, name: 'restore', logger: createLogger('silent'), max: 1 });
  try {
    // Where none is known a new one is made, which opens nothing.
    if ((await opensSealed(pool, secretBoxOf(await secretKeys(pool, settings)))) === false) {
      throw new StartFault('The secrets of this backup were sealed with another SECRET_KEY: set the one of that time.');
    }
    return await prepareRestored(pool);
  } finally {
    await pool.end();
    await engines.stop();
  }
}
