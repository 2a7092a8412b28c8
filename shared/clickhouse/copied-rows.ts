import type { ClickHouseClient } from './clickhouse-client.ts';
import { selectRows } from './clickhouse-client.ts';

export type CopiedTable = 'monitors' | 'crawl_gaps';

export interface CopiedRow {
  key: string;
  contentHash: string;
  /** Microseconds since 1970 when the row was read from Postgres. */
  version: number;
}

const BY_KEYS: Record<CopiedTable, string> = {
  monitors: `SELECT monitor_id AS key, content_hash AS contentHash, version
               FROM monitors FINAL WHERE monitor_id IN {keys: Array(String)}`,
  crawl_gaps: `SELECT toString(gap_id) AS key, content_hash AS contentHash, version
                 FROM crawl_gaps FINAL WHERE gap_id IN {keys: Array(UInt64)}`,
};

const BY_RANGE: Record<CopiedTable, string> = {
  monitors: `SELECT monitor_id AS key, content_hash AS contentHash, version
               FROM monitors FINAL
              WHERE monitor_id > {after: String} AND ({isLast: Bool} OR monitor_id <= {upTo: String})`,
  crawl_gaps: `SELECT toString(gap_id) AS key, content_hash AS contentHash, version
                 FROM crawl_gaps FINAL
                WHERE gap_id > {after: UInt64} AND ({isLast: Bool} OR gap_id <= {upTo: UInt64})`,
};

/** At a first start the archiver may not have created the tables yet. */
export async function copiedTablesExist(clickhouse: ClickHouseClient): Promise<boolean> {
  const query = 'SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN {names: Array(String)}';
  const names = Object.keys(BY_KEYS);
  return (await selectRows(clickhouse, query, { names })).length === names.length;
}

/** Reads the current rows of these keys. Send at most 500: they go into the URL, which servers limit. */
export function readCopiedKeys(
  clickhouse: ClickHouseClient,
  table: CopiedTable,
  keys: readonly string[],
): Promise<CopiedRow[]> {
  return selectRows(clickhouse, BY_KEYS[table], { keys: table === 'monitors' ? [...keys] : keys.map(Number) });
}

/** Reads the current rows after a key, up to another one, or all if that is undefined. */
export function readCopiedRange(
  clickhouse: ClickHouseClient,
  table: CopiedTable,
  { after, upTo }: { after: string; upTo: string | undefined },
): Promise<CopiedRow[]> {
  return selectRows(clickhouse, BY_RANGE[table], { after, isLast: upTo === undefined, upTo: upTo ?? after });
}
