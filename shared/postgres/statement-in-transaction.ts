import pg from 'pg';
import type { QueryConfig, QueryResult } from 'pg';
import { commit } from './pool.ts';
import type { Pool, PoolClient, Queryable } from './pool.ts';

/** What this file uses of a connection of node-postgres, which its types do not describe. */
interface ServerConnection {
  /** Texts of the statements that the session has prepared, by name. */
  parsedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(statement: { statement: string }): void;
  execute(): void;
}

/** What `BegunStatement` overrides of a query of node-postgres, which its types do not describe. */
interface ExtendedQuery {
  prepare(connection: ServerConnection): void;
  handleCommandComplete(message: unknown, connection: ServerConnection): void;
}

const ExtendedQuery = pg.Query as unknown as new (
  statement: QueryConfig,
  done: (error: Error | null, result: QueryResult) => void,
) => ExtendedQuery & pg.Query;

const BEGIN = 'begin';

/**
 * BEGIN and a statement in one message. Both are before the one Sync, so the server skips the statement when BEGIN
 * fails: it never runs outside of the transaction, where it would be committed at once.
 */
class BegunStatement extends ExtendedQuery {
  private hasBegun = false;

  override prepare(connection: ServerConnection): void {
    if (connection.parsedStatements[BEGIN] === undefined) {
      connection.parse({ name: BEGIN, text: 'BEGIN' });
      connection.parsedStatements[BEGIN] = 'BEGIN';
    }
    connection.bind({ statement: BEGIN });
    connection.execute();
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: ServerConnection): void {
    if (this.hasBegun) super.handleCommandComplete(message, connection);
    this.hasBegun = true;
  }
}

/**
 * Runs each statement in a READ COMMITTED transaction of its own: committed when the query resolves, rolled back when
 * it fails. That takes one exchange with the server less than `inTransaction`, and COMMIT still follows only after the
 * server's answer: a statement that its client gave up is not committed later.
 *
 * @returns takes statements with a name. A query fails with the server's error; `isOutcomeUnknown` when only its COMMIT
 * got no answer
 */
export function eachInTransaction(pool: Pool): Queryable {
  const query = (statement: QueryConfig) => inTransactionOfOne(pool, statement);
  // One arrow function cannot express the overloads of node-postgres. Callers pass a prepared statement.
  return { query: query as Queryable['query'] };
}

async function inTransactionOfOne(pool: Pool, statement: QueryConfig): Promise<QueryResult> {
  if (statement.name === undefined) throw new RangeError('only prepared statements run in a transaction of their own');
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const result = await begin(client, statement);
    await commit(client);
    return result;
  } catch (error) {
    // Closing the connection ends the transaction. What the session has prepared is not known after a failure.
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

function begin(client: PoolClient, statement: QueryConfig): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(
      new BegunStatement(statement, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      }),
    );
  });
}
