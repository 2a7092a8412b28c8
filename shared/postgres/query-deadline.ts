import type { Pool, QueryConfig } from 'pg';
import type { Queryable } from './pool.ts';

/**
 * Returns the pool with a shorter limit: a statement without an answer after `ms` milliseconds fails with "Query read
 * timeout", for which isPostgresAway is true, and its connection is closed. The statement may still take effect later.
 * For work that must notice early that Postgres hangs.
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
