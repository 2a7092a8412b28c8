import { fileURLToPath } from 'node:url';
import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate';
import pg from 'pg';
import { delay } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/config.ts';
import { errorMessage } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { SERVER_OPTIONS } from './pool.ts';
import { isPostgresUnavailable, sqlState } from './postgres-unavailable.ts';
import { findPrimary } from './postgres-servers.ts';

const MIGRATIONS = fileURLToPath(new URL('../../schemas/postgres', import.meta.url));

/**
 * A migration waits at most this long for a table that is in use, because all later statements on the table queue
 * behind it: less than the 4 s after which a request gives up (REQUEST_LIMITS).
 */
const TABLE_LOCK_MS = 1_000;
/** How long other statements have a table that was in use before the migration tries again. */
const PAUSE_MS = 10_000;
const LOCK_RETRY_MS = 200;
const LOG_AGAIN_MS = 60_000;
const CONNECT_MS = 10_000;
/** The server ends a migration whose process died between two statements, and releases its locks. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** The first file has had another name since 1.0.0, so the runner refuses an older database. */
const TOO_OLD =
  'Postgres has a database from a version before 1.0.0, which this version cannot read. Use an empty database in DATABASE_URL, or an empty DATA_DIR.';

/** Another process is migrating, and did not finish in time. */
export class MigrationUnderWay extends Error {
  override name = 'MigrationUnderWay';
}

export interface MigrationOptions {
  folder?: string;
  /** Ends the wait for another process that migrates. */
  signal?: AbortSignal;
  /** How long a table that was in use is left alone, in milliseconds; default 10,000. */
  pauseMs?: number;
}

/**
 * Migrates the database to the newest schema: numbered files, forward only, under an advisory lock that other starting
 * processes wait for. Each file is one transaction, so applied files stay applied. A `.js` file may call
 * `pgm.noTransaction()` for CREATE INDEX CONCURRENTLY, which SQL files cannot contain; it must be repeatable.
 *
 * @throws an error for which isPostgresUnavailable is true when a table is not free in time, after the pause, during
 *   which no other process tries either; call it again then
 * @throws ConfigError when the database is of a version before 1.0.0
 * @throws MigrationUnderWay when `signal` is aborted while another process migrates
 */
export async function migratePostgres(url: string, logger: Logger, options: MigrationOptions = {}): Promise<void> {
  const { folder = MIGRATIONS, pauseMs = PAUSE_MS, signal } = options;
  const client = await connect(url);
  try {
    await takeLock(client, logger, signal);
    await runMissing(client, logger, folder);
  } catch (error) {
    if (sqlState(error) === '55P03') await delay(pauseMs, signal);
    throw error;
  } finally {
    // Ending the session releases the advisory lock in every case.
    await client.end().catch(() => undefined);
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: await findPrimary(url, CONNECT_MS),
    application_name: 'forum-monitor migrations',
    lock_timeout: TABLE_LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    options: SERVER_OPTIONS,
  });
  // A statement fails when the connection is lost; without a listener the event would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Polls, because a session that waits for the lock would block CREATE INDEX CONCURRENTLY. */
async function takeLock(client: pg.Client, logger: Logger, signal: AbortSignal | undefined): Promise<void> {
  for (let tries = 0; ; tries++) {
    if (tries > 0 && signal?.aborted) {
      throw new MigrationUnderWay('Another process is migrating Postgres and has not finished yet.');
    }
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      PG_MIGRATE_LOCK_ID,
    ]);
    if (rows[0]?.taken === true) return;
    if (tries > 0 && tries % (LOG_AGAIN_MS / LOCK_RETRY_MS) === 0) {
      logger.info('another process is migrating Postgres; waiting for it');
    }
    await delay(LOCK_RETRY_MS, signal);
  }
}

async function runMissing(client: pg.Client, logger: Logger, folder: string): Promise<void> {
  try {
    await runner({
      dbClient: client,
      noLock: true,
      dir: `${folder}/*.{sql,js}`,
      useGlob: true,
      direction: 'up',
      migrationsTable: 'schema_migrations',
      singleTransaction: false,
      checkOrder: true,
      logger: {
        debug: () => undefined,
        info: (message: string) => {
          logger.debug(message);
        },
        warn: (message: string) => {
          logger.debug(message);
        },
        error: (message: string) => {
          logger.error(message);
        },
      },
    });
  } catch (error) {
    if (/ is preceding already run migration /.test(errorMessage(error))) throw new ConfigError(TOO_OLD);
    throw await hiddenLoss(client, error);
  }
}

/** The runner reduces some errors of the server to a text, which may hide that the connection was lost. */
async function hiddenLoss(client: pg.Client, error: unknown): Promise<unknown> {
  if (sqlState(error) !== undefined) return error;
  return client.query('ROLLBACK').then(
    () => error,
    (loss: unknown) => (isPostgresUnavailable(loss) ? loss : error),
  );
}
