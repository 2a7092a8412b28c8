import { inTransaction } from './pool.ts';
import type { Pool, PoolClient } from './pool.ts';

/**
 * Runs statements that read the first rows of an index and stop at a limit. Where the planner expects fewer rows than
 * the limit, it prefers to read and sort all rows of the condition, and its expectation may be far too low. In this
 * transaction it may only read in the order of an index, so the limit holds whatever the statistics say.
 */
export function inIndexOrder<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query(
      'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off',
    );
    return work(client);
  });
}
