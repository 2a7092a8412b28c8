import pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from '../runtime/logger.ts';

export type { Pool, PoolClient };

export interface PoolOptions {
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  logger: Logger;
  /** Connections at most. */
  max?: number;
  /** A statement that runs longer is cancelled; default 30 s. */
  statementTimeoutMs?: number;
}

const INT8_AS_NUMBERS = new pg.TypeOverrides();
INT8_AS_NUMBERS.setTypeParser(pg.types.builtins.INT8, parseInt8);

/**
 * A pool whose int8 columns are JS numbers (an error above 2^53) and whose sessions run in UTC. A lost connection is logged,
 * not thrown: the next query opens another.
 */
export function createPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.max ?? 10,
    statement_timeout: statementTimeoutMs,
    // The server's word comes first; without an answer at all, as on a connection that fell silent, the client gives up.
    query_timeout: statementTimeoutMs + 5_000,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    options: '-c timezone=UTC',
    types: INT8_AS_NUMBERS,
  });
  // A connection in use that is lost fails its query; without a listener its error would end the process as well.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      options.logger.warn({ err: error }, 'a Postgres connection in use was lost');
    });
  });
  pool.on('error', (error) => {
    options.logger.warn({ err: error }, 'an idle Postgres connection was lost');
  });
  return pool;
}

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 value ${text} does not fit a JS number`);
  return value;
}

/** Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      broken = rollbackError as Error;
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Anything that runs a statement: a pool, or the client of a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;
