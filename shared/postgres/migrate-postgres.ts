import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { delay } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { findPrimary } from './postgres-servers.ts';

const MIGRATIONS = fileURLToPath(new URL('../../schemas/postgres', import.meta.url));

/**
 * A migration waits at most this long for a table lock, because all later statements on the table queue behind it. It
 * is tried again later.
 */
const LOCK_TIMEOUT_MS = 10_000;
const LOCK_RETRY_MS = 200;
const CONNECT_MS = 10_000;
/** The error message of the runner while another process has its lock. */
const LOCKED = 'Another migration is already running';

/**
 * Migrates the database to the newest schema: numbered files, forward only, under an advisory lock that other starting
 * processes wait for. Each file is one transaction, so applied files stay applied. A `.js` file may call
 * `pgm.noTransaction()` for CREATE INDEX CONCURRENTLY, which SQL files cannot contain; it must be repeatable.
 *
 * @param folder the folder of the files; by default the installation's own
 * @throws an error for which isPostgresAway is true when a table lock is not free in time; call it again then
 */
export async function migratePostgres(url: string, logger: Logger, folder: string = MIGRATIONS): Promise<void> {
  while (!(await applyMissing(url, logger, folder))) await delay(LOCK_RETRY_MS);
}

/**
 * @returns false while another process migrates. The caller polls, because a session that waits for the lock would
 * block CREATE INDEX CONCURRENTLY.
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
  const primary = await findPrimary(url, CONNECT_MS);
  await runner({
    databaseUrl: {
      connectionString: primary,
      application_name: 'forum-monitor migrations',
      lock_timeout: LOCK_TIMEOUT_MS,
      connectionTimeoutMillis: CONNECT_MS,
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
      // The runner warns on each attempt that it did not get the lock.
      warn: (message: string) => {
        logger.debug(message);
      },
      error: (message: string) => {
        logger.error(message);
      },
    },
  });
}
