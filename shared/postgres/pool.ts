import pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from '../runtime/logger.ts';
import { isPostgresAway, sqlState } from './postgres-away.ts';

export type { Pool, PoolClient };

export interface PoolDeps {
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  logger: Logger;
  /** Connections at most. */
  max?: number;
  limits?: SessionLimits;
}

/** How long parts of the work may take, in milliseconds. */
export interface SessionLimits {
  /** Until a connection is free or made. */
  connectMs: number;
  /** A statement that waits longer for a lock fails (55P03). */
  lockMs: number;
  /** A statement that runs longer is cancelled (57014). */
  statementMs: number;
  /** Until the server's answer to a statement, its own word included; without any the connection is thrown away. */
  answerMs: number;
  /**
   * A transaction whose client says nothing for longer is ended (25P03), and its locks with it. Less than answerMs: a
   * server that stood still refuses then what was sent to it meanwhile, a COMMIT too, so a transaction whose client
   * gave up is not committed.
   */
  idleInTransactionMs: number;
}

/** Work that nobody waits for with a deadline of his own. */
export const BACKGROUND_LIMITS: SessionLimits = {
  connectMs: 10_000,
  lockMs: 15_000,
  statementMs: 30_000,
  answerMs: 35_000,
  idleInTransactionMs: 30_000,
};

/** Requests are answered within 10 s, whatever Postgres does: 2.5 s for a connection and 6 s for a statement. */
export const REQUEST_LIMITS: SessionLimits = {
  connectMs: 2_500,
  lockMs: 4_000,
  statementMs: 5_000,
  answerMs: 6_000,
  idleInTransactionMs: 4_500,
};

/** After so long without a word the system asks whether the other side is still there. */
const KEEP_ALIVE_MS = 10_000;

const INT8_AS_NUMBERS = new pg.TypeOverrides();
INT8_AS_NUMBERS.setTypeParser(pg.types.builtins.INT8, parseInt8);

/**
 * A pool whose int8 columns are JS numbers (an error above 2^53) and whose sessions run in UTC. A lost connection is
 * logged, not thrown: the next query opens another.
 */
export function createPool(options: PoolDeps): Pool {
  const limits = options.limits ?? BACKGROUND_LIMITS;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.max ?? 10,
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    // The server's word comes first; without an answer at all, as on a connection that fell silent, the client gives
    // up.
    query_timeout: limits.answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: 30_000,
    // A client that vanished keeps neither its session nor its locks for long.
    options: '-c timezone=UTC -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3',
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
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** @returns why the connection must be thrown away; undefined: it may be used again */
async function rollBack(client: PoolClient, error: unknown): Promise<Error | undefined> {
  // The server did not answer: nor would it answer this. Its end of the transaction comes with the connection's.
  if (isPostgresAway(error) && sqlState(error) === undefined) return error as Error;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (rollbackError) {
    return rollbackError as Error;
  }
}

/** Anything that runs a statement: a pool, or the client of a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;
