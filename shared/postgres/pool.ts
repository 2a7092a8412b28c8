import pg from 'pg';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { clientClassOf, PostgresServers } from './postgres-servers.ts';
import { isPostgresUnavailable, sqlState } from './postgres-unavailable.ts';

export type { Pool, PoolClient };

export interface PoolDeps {
  /** May name several servers: see `addressesOf`. */
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  logger: Logger;
  /** Maximum number of connections. */
  max?: number;
  limits?: SessionLimits;
}

/** Time limits of the steps of a query, in milliseconds. */
export interface SessionLimits {
  /** To get a connection from the pool or open one. */
  connectMs: number;
  /** A statement that waits longer for a lock fails (55P03). */
  lockMs: number;
  /** A statement that runs longer is cancelled (57014). */
  statementMs: number;
  /** To get any answer to a statement; after that the connection is discarded. Longer than statementMs. */
  answerMs: number;
  /**
   * The server ends a transaction whose client is idle for longer (25P03), and releases its locks. It is less than
   * answerMs, so that a server that was suspended refuses what was sent to it meanwhile, including a COMMIT: a
   * transaction that its client gave up is not committed.
   */
  idleInTransactionMs: number;
}

/**
 * Limits of background work, which nobody waits for with a deadline. Opening a connection takes five answers of the
 * server with TLS and SCRAM: one that takes 3 s for each is slow, not unavailable.
 */
export const BACKGROUND_LIMITS: SessionLimits = {
  connectMs: 15_000,
  lockMs: 15_000,
  statementMs: 30_000,
  answerMs: 35_000,
  idleInTransactionMs: 30_000,
};

/** Limits of requests, which are answered within 10 s in any case: 2.5 s for a connection and 6 s for a statement. */
export const REQUEST_LIMITS: SessionLimits = {
  connectMs: 2_500,
  lockMs: 4_000,
  statementMs: 5_000,
  answerMs: 6_000,
  idleInTransactionMs: 4_500,
};

/** Options of each session. The server notices a vanished client soon, and releases its session and its locks. */
export const SERVER_OPTIONS =
  '-c timezone=UTC -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3';
/** TCP keep-alive: idle time before the first probe. */
const KEEP_ALIVE_MS = 10_000;

const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, parseInt8);
TYPES.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);

/**
 * A pool of connections to the primary among the servers of the URL. Its int8 columns are JS numbers (an error above
 * 2^53), its sessions run in UTC. A lost connection is logged, not thrown: the next query opens another.
 */
export function createPool(options: PoolDeps): Pool {
  const limits = options.limits ?? BACKGROUND_LIMITS;
  const pool = new pg.Pool({
    Client: clientClassOf(new PostgresServers(options.url)),
    application_name: options.name,
    max: options.max ?? 10,
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    // Normally the server's own timeout fires first. The client gives up when a connection does not answer at all.
    query_timeout: limits.answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: 30_000,
    options: SERVER_OPTIONS,
    types: TYPES,
  });
  // When a connection in use is lost, its query fails. Without a listener the error event would end the process too.
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

const parseAnyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;

/**
 * Reads a timestamptz as a session in UTC prints it, such as `2026-11-26 21:15:13.123456+00`, cut to milliseconds, in
 * half the time of pg's own parser. That one gets whatever has another form: infinity, other zones, other years.
 */
export function parseTimestamp(text: string): Date {
  if (text.charCodeAt(4) !== 45 || !text.endsWith('+00')) return parseAnyTime(text);
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
}

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 value ${text} does not fit a JS number`);
  return value;
}

/** Exports how many connections of a pool are used, each time that one is taken or returned, under the pool's name. */
export function exportPoolUse(
  pool: Pool,
  { name, metrics }: { name: string; metrics: Pick<Metrics, 'postgresConnections' | 'postgresQueue'> },
): void {
  const update = () => {
    metrics.postgresConnections.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
    metrics.postgresConnections.set({ pool: name, state: 'idle' }, pool.idleCount);
    metrics.postgresConnections.set({ pool: name, state: 'free' }, pool.options.max - pool.totalCount);
    metrics.postgresQueue.set({ pool: name }, pool.waitingCount);
  };
  update();
  // pg emits `release` before it counts the connection as idle.
  const updateSoon = () => {
    queueMicrotask(update);
  };
  pool.on('acquire', updateSoon);
  pool.on('release', updateSoon);
  pool.on('remove', updateSoon);
}

/** Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await commit(client);
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Runs each statement in a READ COMMITTED transaction of its own: committed when the query resolves, rolled back when
 * it fails. COMMIT follows only after the server's answer, so a statement that its client gave up is not committed
 * later, as one that commits by itself would be.
 */
export function eachInTransaction(pool: Pool): Queryable {
  const query = (statement: QueryConfig) => inTransaction(pool, (client) => client.query(statement));
  // One arrow function cannot express the overloads of node-postgres. Callers pass a prepared statement.
  return { query: query as Queryable['query'] };
}

/**
 * Runs statements that read the first rows of an index and stop at a limit. Where the planner expects fewer rows than
 * the limit, which may be far too few, it would read and sort all rows. Here it may only read in the order of an index.
 */
export async function inIndexOrder<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let result: T;
  try {
    // One round trip.
    await client.query(
      'BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off',
    );
    result = await work(client);
  } catch (error) {
    client.release(await rollBack(client, error));
    throw error;
  }
  // Nothing was written, so nobody waits for the end of the transaction.
  client.query('COMMIT').then(
    () => {
      client.release();
    },
    () => {
      client.release(true);
    },
  );
  return result;
}

/**
 * The commit of this transaction waits for the server's own disk, not for a standby. No limit of the server ends the
 * wait for a standby that is unavailable: its request gets no answer, and its connection stays taken.
 */
export async function commitLocally(db: Queryable): Promise<void> {
  await db.query(`SELECT set_config('synchronous_commit', 'local', true)`);
}

/** Errors of commits that the server may have carried out. */
const unknownOutcomes = new WeakSet<Error>();

/**
 * Whether a transaction failed in its last step without an answer of the server, so that it may have been committed, or
 * is committed later: a commit that waits for a standby or for the disk is not ended by any limit of the server.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof Error && unknownOutcomes.has(error);
}

/** Marks a failure without an answer for `isOutcomeUnknown`. */
async function commit(client: PoolClient): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (error instanceof Error && isPostgresUnavailable(error) && sqlState(error) === undefined)
      unknownOutcomes.add(error);
    throw error;
  }
}

/** @returns why the connection must be discarded; undefined when it can be reused */
async function rollBack(client: PoolClient, error: unknown): Promise<Error | undefined> {
  // The server did not answer and would not answer ROLLBACK either. Closing the connection ends the transaction.
  if (isPostgresUnavailable(error) && sqlState(error) === undefined) return error as Error;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (rollbackError) {
    return rollbackError as Error;
  }
}

/** Anything that runs statements: a pool, or the client of a transaction. */
export type Queryable = Pick<PoolClient, 'query'>;

/**
 * For work that must notice early that Postgres hangs: a statement without an answer after `ms` milliseconds fails with
 * an error for which isPostgresUnavailable is true. It may still take effect later.
 */
export function withQueryDeadline(pool: Pool, ms: number): Queryable {
  const query = (text: string, values?: unknown[]) => {
    // node-postgres accepts query_timeout for each statement, but its types lack it.
    const config: QueryConfig & { query_timeout: number } = { text, query_timeout: ms };
    return pool.query(values === undefined ? config : { ...config, values });
  };
  // One arrow function cannot express the overloads of node-postgres. Callers pass a text and values.
  return { query: query as Queryable['query'] };
}
