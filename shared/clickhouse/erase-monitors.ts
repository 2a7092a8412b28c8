import type { ClickHouseClient } from './clickhouse-client.ts';
import { selectRows } from './clickhouse-client.ts';

const TABLES = ['matches', 'delivery_attempts', 'monitors'] as const;
/** The ids are sent in the URL, which servers limit (some to 16 KB): 500 × 25 bytes. */
const IDS_PER_STATEMENT = 500;

/**
 * Deletes the rows of monitors, also from the disk: ClickHouse rewrites the parts that contain them (a mutation).
 * Repeating it is harmless, and cheap when there is nothing to delete. While a mutation of the table is running it
 * starts no other; call it again later then.
 *
 * @returns true when no row is left. Rows that an archiver inserts afterwards are not detected.
 */
export async function eraseMonitorsInArchive(
  clickhouse: ClickHouseClient,
  monitorIds: readonly string[],
  tables: readonly Table[] = TABLES,
): Promise<boolean> {
  let isClean = true;
  for (const table of tables) {
    for (let first = 0; first < monitorIds.length; first += IDS_PER_STATEMENT) {
      const ids = monitorIds.slice(first, first + IDS_PER_STATEMENT);
      if (!(await eraseRows(clickhouse, table, ids))) isClean = false;
    }
  }
  return isClean;
}

type Table = (typeof TABLES)[number];

async function eraseRows(clickhouse: ClickHouseClient, table: Table, ids: string[]): Promise<boolean> {
  if ((await countRows(clickhouse, table, ids)) === 0) return true;
  if ((await countMutations(clickhouse, table)) > 0) return false;
  await clickhouse.command({
    query: 'ALTER TABLE {table: Identifier} DELETE WHERE monitor_id IN {ids: Array(String)}',
    query_params: { table, ids },
    // Waits until all replicas are done. The mutation continues even when this connection is closed.
    clickhouse_settings: { mutations_sync: '2' },
  });
  return (await countRows(clickhouse, table, ids)) === 0;
}

async function countRows(clickhouse: ClickHouseClient, table: Table, ids: string[]): Promise<number> {
  const query = 'SELECT count() AS n FROM {table: Identifier} WHERE monitor_id IN {ids: Array(String)}';
  const [row] = await selectRows<{ n: number }>(clickhouse, query, { table, ids });
  return row!.n;
}

async function countMutations(clickhouse: ClickHouseClient, table: Table): Promise<number> {
  const query = `SELECT count() AS n FROM system.mutations
    WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done`;
  const [row] = await selectRows<{ n: number }>(clickhouse, query, { table });
  return row!.n;
}
