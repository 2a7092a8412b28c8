import { createHash } from 'node:crypto';
import { copiedTablesExist, readCopiedKeys, readCopiedRange } from '../../shared/clickhouse/copied-rows.ts';
import type { CopiedTable } from '../../shared/clickhouse/copied-rows.ts';
import { eraseMonitorsInArchive } from '../../shared/clickhouse/erase-monitors.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { readGapsToCopy } from '../../shared/crawl/crawl-gaps.ts';
import { readMonitorsToCopy } from '../../shared/monitors/administered-monitors.ts';
import { readPostgresTime } from '../../shared/maintenance/settings.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

type CopyDeps = Pick<BillerDeps, 'pool' | 'clickhouse'> & Continuing;

const ROWS_PER_PAGE = 500;
/** A copy that is younger may be of a monitor that was created after the page was read. */
const SETTLED_MICROSECONDS = 60_000_000;

/**
 * Copies monitors and gaps from Postgres into ClickHouse, where analysts join them. Only rows whose content differs are
 * written, so a run without changes writes nothing, and repeating one after a crash is harmless. The version of a row
 * is the time before it was read: what a slow process writes late does not replace what was read later, and the next
 * comparison corrects everything else.
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
    const keys = rows.map(({ key }) => key);
    const copied = isFull
      ? await readCopiedRange(clickhouse, table.name, { after, upTo: last })
      : keys.length === 0
        ? []
        : await readCopiedKeys(clickhouse, table.name, keys);
    const known = new Map(copied.map(({ key, contentHash }) => [key, contentHash]));
    const values = rows
      .filter(({ key, contentHash }) => known.get(key) !== contentHash)
      .map((row) => ({ ...row.values, content_hash: row.contentHash, version }));
    if (values.length > 0) await clickhouse.insert({ table: table.name, values, format: 'JSONEachRow' });
    if (isFull && table === MONITORS) {
      const present = new Set(keys);
      const deleted = copied.filter((row) => !present.has(row.key) && row.version < version - SETTLED_MICROSECONDS);
      const ids = deleted.map(({ key }) => key);
      await eraseMonitorsInArchive(clickhouse, ids, ['monitors']);
    }
    if (last === undefined) return true;
    after = last;
  }
}

/** A row as ClickHouse stores it, without its version. */
interface RowToCopy {
  key: string;
  contentHash: string;
  values: Record<string, unknown>;
}

interface TableToCopy {
  name: CopiedTable;
  /** Below every key. */
  firstKey: string;
  /** Rows by key. @param isRecent whether only rows that changed in the last minutes are read */
  read(db: Queryable, page: { after: string; limit: number; isRecent: boolean }): Promise<RowToCopy[]>;
}

const MONITORS: TableToCopy = {
  name: 'monitors',
  firstKey: '',
  async read(db, page) {
    const monitors = await readMonitorsToCopy(db, page);
    return monitors.map(({ monitorId, name, accountId, createdAt, isDeleted }) =>
      rowOf(monitorId, {
        monitor_id: monitorId,
        name,
        account_id: accountId,
        created_at: createdAt.toISOString(),
        deleted: isDeleted,
      }),
    );
  },
};

const GAPS: TableToCopy = {
  name: 'crawl_gaps',
  firstKey: '0',
  async read(db, { after, ...page }) {
    const gaps = await readGapsToCopy(db, { ...page, after: Number(after) });
    return gaps.map((gap) =>
      rowOf(String(gap.id), {
        gap_id: gap.id,
        source: gap.source,
        reason: gap.reason,
        opened_at: gap.openedAt.toISOString(),
        created_from: gap.createdFrom?.toISOString() ?? null,
        created_to: gap.createdTo?.toISOString() ?? null,
        after_thing: gap.afterThing ?? '',
        before_thing: gap.beforeThing ?? '',
        communities: gap.communities ?? [],
        found: gap.found,
        closed_at: gap.closedAt?.toISOString() ?? null,
        outcome: gap.outcome ?? '',
      }),
    );
  },
};

function rowOf(key: string, values: Record<string, unknown>): RowToCopy {
  const contentHash = createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
  return { key, contentHash, values };
}
