import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { copiedTablesExist, readCopiedKeys, readCopiedRange } from '../../shared/clickhouse/copied-rows.ts';
import type { CopiedRow } from '../../shared/clickhouse/copied-rows.ts';
import { eraseCopiedMonitors } from '../../shared/clickhouse/erase-monitors.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { readPostgresTime } from '../../shared/stores/upkeep/postgres-time.ts';
import { GAPS, MONITORS } from './copied-tables.ts';
import type { RowToCopy, TableToCopy } from './copied-tables.ts';

export interface CopyDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  /** Called before each page; returns whether this process still has the lease. */
  mayContinue: () => Promise<boolean>;
}

const ROWS_PER_PAGE = 500;
/** A copy that is younger may be of a monitor that was created after the page was read. */
const SETTLED_MICROSECONDS = 60_000_000;

/**
 * Copies monitors and gaps from Postgres into ClickHouse, where analysts join them. Only rows whose content differs are
 * written, so a round without changes writes nothing, and repeating one after a crash is harmless. The version of a row
 * is the time before it was read: what a process that was slow writes late does not replace what was read later, and
 * the next comparison corrects everything else.
 *
 * @param isFull whether all rows are compared, and copies of monitors that no longer exist are deleted; otherwise only
 * rows that changed in the last minutes are
 * @returns false when this process lost the lease before the end, or the archiver has not created the tables yet
 */
export async function copyTables(deps: CopyDeps, { isFull }: { isFull: boolean }): Promise<boolean> {
  if (isFull && !(await copiedTablesExist(deps.clickhouse))) return false;
  for (const table of [MONITORS, GAPS]) if (!(await copyTable(deps, table, isFull))) return false;
  return true;
}

async function copyTable(deps: CopyDeps, table: TableToCopy, isFull: boolean): Promise<boolean> {
  const { pool, clickhouse } = deps;
  let after = table.firstKey;
  for (;;) {
    if (!(await deps.mayContinue())) return false;
    const version = await readPostgresTime(pool);
    const rows = await table.read(pool, { after, limit: ROWS_PER_PAGE, isRecent: !isFull });
    const last = rows.length < ROWS_PER_PAGE ? undefined : rows.at(-1)?.key;
    if (isFull) {
      const copied = await readCopiedRange(clickhouse, table.name, { after, upTo: last });
      await insertChanged(clickhouse, table, { rows, version, copied });
      if (table === MONITORS) await eraseGone(clickhouse, { rows, version, copied });
    } else if (rows.length > 0) {
      const keys = rows.map(({ key }) => key);
      const copied = await readCopiedKeys(clickhouse, table.name, keys);
      await insertChanged(clickhouse, table, { rows, version, copied });
    }
    if (last === undefined) return true;
    after = last;
  }
}

/** A page of Postgres, when it was read, and the rows of ClickHouse in its place. */
interface Comparison {
  rows: readonly RowToCopy[];
  version: number;
  copied: readonly CopiedRow[];
}

async function insertChanged(
  clickhouse: ClickHouseClient,
  { name }: TableToCopy,
  { rows, version, copied }: Comparison,
): Promise<void> {
  const known = new Map(copied.map(({ key, contentHash }) => [key, contentHash]));
  const changed = rows.filter(({ key, contentHash }) => known.get(key) !== contentHash);
  if (changed.length === 0) return;
  const values = changed.map((row) => ({ ...row.values, content_hash: row.contentHash, version }));
  await clickhouse.insert({ table: name, values, format: 'JSONEachRow' });
}

async function eraseGone(clickhouse: ClickHouseClient, { rows, version, copied }: Comparison): Promise<void> {
  const present = new Set(rows.map(({ key }) => key));
  const gone = copied.filter((row) => !present.has(row.key) && row.version < version - SETTLED_MICROSECONDS);
  await eraseCopiedMonitors(
    clickhouse,
    gone.map(({ key }) => key),
  );
}
