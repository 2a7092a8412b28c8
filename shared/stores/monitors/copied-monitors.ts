import type { Queryable } from '../../postgres/pool.ts';

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
  const { rows } = await db.query<CopiedMonitor>(
    `SELECT id AS "monitorId", CASE WHEN status = 'deleted' THEN '' ELSE name END AS name, account_id AS "accountId",
            created_at AS "createdAt", status = 'deleted' AS "isDeleted"
       FROM monitors
      WHERE id > $1 AND (NOT $3 OR updated_at > (SELECT service_now()) - interval '3 minutes')
      ORDER BY id
      LIMIT $2`,
    [page.after ?? '', page.limit, page.isRecent],
  );
  return rows;
}
