import type { Pool } from '../../postgres/pool.ts';
import { inTransaction } from '../../postgres/pool.ts';

/**
 * More than a monitor can have numbered since any backup: 11,000 live matches a day, and 50,000 a backfill. There is
 * room for 100,000 restorations before match ids need a 13th digit.
 */
export const NUMBERS_SKIPPED = 10_000_000;

/**
 * Raises every counter of a database that was restored from a backup, so that nothing new gets a number that the lost
 * database gave after the backup: the seq of each monitor's matches, and all identity columns. Repeating it skips more.
 *
 * Run it before the first service starts. @returns how many monitors there are
 */
export function raiseNumbers(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rowCount } = await client.query('UPDATE monitor_counters SET last_seq = last_seq + $1', [NUMBERS_SKIPPED]);
    await client.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1)
         FROM pg_sequences WHERE schemaname = current_schema()`,
      [NUMBERS_SKIPPED],
    );
    return rowCount ?? 0;
  });
}
