import { createHash } from 'node:crypto';
import type { CopiedTable } from '../../shared/clickhouse/copied-rows.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { readGapsToCopy } from '../../shared/stores/crawl/copied-gaps.ts';
import { readMonitorsToCopy } from '../../shared/stores/monitors/copied-monitors.ts';

/** A row as ClickHouse stores it, without its version. */
export interface RowToCopy {
  key: string;
  contentHash: string;
  values: Record<string, unknown>;
}

export interface TableToCopy {
  name: CopiedTable;
  /** Below every key. */
  firstKey: string;
  /** Rows by key. @param isRecent whether only rows that changed in the last minutes are read */
  read(db: Queryable, page: { after: string; limit: number; isRecent: boolean }): Promise<RowToCopy[]>;
}

export const MONITORS: TableToCopy = {
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

export const GAPS: TableToCopy = {
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
