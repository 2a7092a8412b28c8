import type { ClickHouseClient } from './clickhouse-client.ts';

/** What is stored by monitor. */
const TABLES = ['matches', 'delivery_attempts'] as const;
/** The ids travel in ClickHouse's URL, which servers bound (some at 16 KB): 500 × 25 bytes. */
const IDS_A_STATEMENT = 500;

/**
 * Deletes the rows of monitors, from the disk too: parts that hold some are written anew (a mutation). Repeating it is
 * harmless, and cheap when there is nothing to delete. A mutation that is under way is not overtaken by another: then
 * call it again later.
 *
 * @returns true when no row is left. What an archiver inserts afterwards is not found out here.
 */
export async function eraseMonitorsInArchive(
  clickhouse: ClickHouseClient,
  monitorIds: readonly string[],
): Promise<boolean> {
  let isClean = true;
  for (const table of TABLES) {
    for (let first = 0; first < monitorIds.length; first += IDS_A_STATEMENT) {
      const ids = monitorIds.slice(first, first + IDS_A_STATEMENT);
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
    // Until all replicas have done it. It goes on by itself when this connection is given up before.
    clickhouse_settings: { mutations_sync: '2' },
  });
  return (await countRows(clickhouse, table, ids)) === 0;
}

async function countRows(clickhouse: ClickHouseClient, table: Table, ids: string[]): Promise<number> {
  const result = await clickhouse.query({
    query: 'SELECT count() AS n FROM {table: Identifier} WHERE monitor_id IN {ids: Array(String)}',
    query_params: { table, ids },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ n: number }>();
  return row!.n;
}

/** Those that are not done yet. */
async function countMutations(clickhouse: ClickHouseClient, table: Table): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS n FROM system.mutations
             WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done`,
    query_params: { table },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ n: number }>();
  return row!.n;
}
