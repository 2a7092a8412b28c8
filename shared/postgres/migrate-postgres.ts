import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type { Logger } from '../runtime/logger.ts';

const MIGRATIONS = fileURLToPath(new URL('../../schemas/postgres', import.meta.url));

/**
 * Brings the database to the newest schema: numbered SQL files, forward only, all in one transaction, under an advisory lock
 * that other starting processes wait for.
 */
export async function migratePostgres(url: string, logger: Logger): Promise<void> {
  await runner({
    databaseUrl: url,
    dir: `${MIGRATIONS}/*.sql`,
    useGlob: true,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    singleTransaction: true,
    advisoryLockMode: 'wait',
    checkOrder: true,
    logger: {
      debug: () => undefined,
      info: (message: string) => {
        logger.debug(message);
      },
      warn: (message: string) => {
        logger.warn(message);
      },
      error: (message: string) => {
        logger.error(message);
      },
    },
  });
}
