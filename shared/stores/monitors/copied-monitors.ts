import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** What analysts see of a monitor. */
export interface CopiedMonitor {
  monitorId: string;
  /** Empty once the monitor is deleted. */
  name: string;
  accountId: string;
  createdAt: Date;
  isDeleted: boolean;
}

/** A page in the order of the ids, which is the order of their bytes. */
export interface CopyPage {
  /** The last id of the page before; undefined: from the beginning. */
  after: string | undefined;
  limit: number;
  /** Whether only rows that changed in the last minutes are read. */
  isRecent: boolean;
}

/** Reads a page of all monitors, deleted ones included. An index serves recent ones (monitors_updated). */
export async function readMonitorsToCopy(db: Queryable, page: CopyPage): Promise<CopiedMonitor[]> {
  return readRows<CopiedMonitor>(db)`
    SELECT id AS "monitorId", CASE WHEN status = 'deleted' THEN '' ELSE name END AS name, account_id AS "accountId",
          created_at AS "createdAt", status = 'deleted' AS "isDeleted"
     FROM monitors
    WHERE id > ${page.after ?? ''}
      AND (NOT ${page.isRecent} OR updated_at > (SELECT service_now()) - interval '3 minutes')
    ORDER BY id
    LIMIT ${page.limit}`;
}
