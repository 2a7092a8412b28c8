import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool, PoolClient } from '../postgres/pool.ts';
import { delay } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/config.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ClickHouseClient } from './clickhouse-client.ts';
import { selectRows } from './clickhouse-client.ts';

const MIGRATIONS = join(import.meta.dirname, '../../schemas/clickhouse');
/** Key of the advisory lock in Postgres: an arbitrary number that must never change. */
const LOCK = 7_104_226_091;
const RETRY_LOCK_MS = 200;
/** ClickHouse's number of that error. */
const UNKNOWN_TABLE = '60';

/**
 * Migrates ClickHouse to the newest schema: numbered SQL files, forward only. ClickHouse has no locks and no
 * transactions, so a Postgres lock is used, and a file that did not run completely runs again: its statements must be
 * repeatable.
 *
 * @throws ConfigError when the archive is of a version before 1.0.0
 */
export async function migrateClickhouse(
  clickhouse: ClickHouseClient,
  pool: Pool,
  logger: Logger,
  signal?: AbortSignal,
): Promise<void> {
  const connection = await pool.connect();
  try {
    while (!(await tryLock(connection))) {
      await delay(RETRY_LOCK_MS, signal);
      signal?.throwIfAborted();
    }
    await applyMissing(clickhouse, logger);
  } finally {
    // Ending the session releases the lock in every case.
    connection.release(true);
  }
}

/** The caller polls: a statement that waits for the lock would time out during a long migration. */
async function tryLock(connection: PoolClient): Promise<boolean> {
  const { rows } = await connection.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [LOCK]);
  return rows[0]?.locked === true;
}

async function applyMissing(clickhouse: ClickHouseClient, logger: Logger): Promise<void> {
  const applied = await appliedFiles(clickhouse);
  if (applied.has('0001_initial.sql')) {
    throw new ConfigError(
      'ClickHouse has an archive from a version before 1.0.0, which this version cannot read. Use an empty database in CLICKHOUSE_URL, or an empty DATA_DIR.',
    );
  }
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  for (const file of files.sort()) {
    if (applied.has(file)) continue;
    for (const query of statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8'))) await clickhouse.command({ query });
    await clickhouse.insert({ table: 'schema_migrations', values: [{ name: file }], format: 'JSONEachRow' });
    logger.info({ file }, 'ClickHouse migrated');
  }
}

async function appliedFiles(clickhouse: ClickHouseClient): Promise<Set<string>> {
  const read = async () => {
    const rows = await selectRows<{ name: string }>(clickhouse, 'SELECT name FROM schema_migrations');
    return new Set(rows.map(({ name }) => name));
  };
  try {
    return await read();
  } catch (error) {
    if (errorCode(error) !== UNKNOWN_TABLE) throw error;
  }
  await clickhouse.command({
    query: `CREATE TABLE IF NOT EXISTS schema_migrations (
              name String COMMENT 'Name of the file.',
              applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was applied.'
            ) ENGINE = MergeTree ORDER BY name COMMENT 'Files of the schema that were applied.'`,
  });
  return read();
}

/** Splits a file into statements. Each ends with a semicolon at the end of a line. Comments are on separate lines. */
export function statementsOf(sql: string): string[] {
  return sql
    .replace(/^[ \t]*--.*$/gm, '')
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
