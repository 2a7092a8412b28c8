import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool, PoolClient } from '../postgres/pool.ts';
import { delay } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ClickHouseClient } from './clickhouse-client.ts';

const MIGRATIONS = join(import.meta.dirname, '../../schemas/clickhouse');
/** Any number, as long as it is always this one. */
const LOCK = 7_104_226_091;
const RETRY_LOCK_MS = 200;

/**
 * Brings ClickHouse to the newest schema: numbered SQL files, forward only. ClickHouse has no locks and no
 * transactions, so the lock is one of Postgres, and a file whose statements did not all run is run again: they must
 * bear repetition.
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
    // Ending the session frees the lock, whatever state it is in.
    connection.release(true);
  }
}

/**
 * Asked again and again: a statement that waits for the lock would meet its timeout while a long migration runs
 * elsewhere.
 */
async function tryLock(connection: PoolClient): Promise<boolean> {
  const { rows } = await connection.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [LOCK]);
  return rows[0]?.locked === true;
}

async function applyMissing(clickhouse: ClickHouseClient, logger: Logger): Promise<void> {
  await clickhouse.command({
    query: `CREATE TABLE IF NOT EXISTS schema_migrations (name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
            ENGINE = MergeTree ORDER BY name`,
  });
  const result = await clickhouse.query({ query: 'SELECT name FROM schema_migrations', format: 'JSONEachRow' });
  const applied = new Set((await result.json<{ name: string }>()).map(({ name }) => name));
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  for (const file of files.sort()) {
    if (applied.has(file)) continue;
    for (const query of statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8'))) await clickhouse.command({ query });
    await clickhouse.insert({ table: 'schema_migrations', values: [{ name: file }], format: 'JSONEachRow' });
    logger.info({ file }, 'ClickHouse migrated');
  }
}

/** A file's statements: each ends with a semicolon at the end of a line. Comments have lines of their own. */
export function statementsOf(sql: string): string[] {
  return sql
    .replace(/^[ \t]*--.*$/gm, '')
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
