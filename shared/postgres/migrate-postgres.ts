import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { delay } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

const MIGRATIONS = fileURLToPath(new URL('../../schemas/postgres', import.meta.url));

/**
 * A change of a table waits no longer for those who use it: behind it everybody else would wait too. It is tried again
 * later.
 */
const LOCK_TIMEOUT_MS = 10_000;
const ASK_AGAIN_MS = 200;
/** What the runner says when another process holds its lock. */
const LOCKED = 'Another migration is already running';

/**
 * Brings the database to the newest schema: numbered files, forward only, under an advisory lock that other starting
 * processes wait for. Each file is one transaction, so what was applied stays applied. A file `.js` may call
 * `pgm.noTransaction()` for CREATE INDEX CONCURRENTLY, which SQL files cannot hold; it must bear repetition.
 *
 * @param folder where the files are; default: ours
 * @throws what isPostgresAway calls away when a lock is not to be had in time: call it again then
 */
export async function migratePostgres(url: string, logger: Logger, folder: string = MIGRATIONS): Promise<void> {
  while (!(await applyMissing(url, logger, folder))) await delay(ASK_AGAIN_MS);
}

/**
 * @returns false while another process migrates. Asked again and again: a session that waits for the lock would keep
 * CONCURRENTLY waiting.
 */
async function applyMissing(url: string, logger: Logger, folder: string): Promise<boolean> {
  try {
    await runMissing(url, logger, folder);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith(LOCKED)) return false;
    throw error;
  }
}

async function runMissing(url: string, logger: Logger, folder: string): Promise<void> {
  await runner({
    databaseUrl: {
      connectionString: url,
      application_name: 'forum-monitor migrations',
      lock_timeout: LOCK_TIMEOUT_MS,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    },
    dir: `${folder}/*.{sql,js}`,
    useGlob: true,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    singleTransaction: false,
    advisoryLockMode: 'fail',
    checkOrder: true,
    logger: {
      debug: () => undefined,
      info: (message: string) => {
        logger.debug(message);
      },
      // That a lock was not held, once for each time it was asked for.
      warn: (message: string) => {
        logger.debug(message);
      },
      error: (message: string) => {
        logger.error(message);
      },
    },
  });
}
