import type { Pool, QueryConfig } from 'pg';
import type { Queryable } from './pool.ts';

/**
 * The pool, whose statements end after `ms` milliseconds without an answer, for work that must notice early that
 * Postgres hangs. Such a statement fails with "Query read timeout", for which isPostgresAway is true, and may still
 * take effect later; its connection is closed.
 */
export function withQueryDeadline(pool: Pool, ms: number): Queryable {
  const query = (text: string, values?: unknown[]) => {
    // Known to node-postgres for each statement, but not to its types.
    const config: QueryConfig & { query_timeout: number } = { text, query_timeout: ms };
    return pool.query(values === undefined ? config : { ...config, values });
  };
  // The overloads of node-postgres cannot be written as one arrow function; the stores call it with a text and values.
  return { query: query as Queryable['query'] };
}
