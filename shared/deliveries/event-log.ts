import type { Queryable } from '../postgres/pool.ts';
import { readRow, readRows } from '../postgres/sql.ts';
import type { StoredEvent } from './event-deliveries.ts';

export type LoggedEvent = StoredEvent & {
  id: string;
  createdAt: Date;
  deliveryStatus: 'pending' | 'delivered' | 'failed' | 'skipped';
  /** Made so far. */
  attempts: number;
  lastAttemptAt: Date | null;
  /** 0: no answer; null: no attempt. */
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
};

/**
 * Reads the newest events of a monitor, newest first, in the order in which they were stored.
 *
 * @param page.beforeId only those before this event: none when it has expired, as the older ones have too
 * @returns undefined when `beforeId` is an event of another monitor
 */
export async function readEventLog(
  db: Queryable,
  monitorId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): Promise<LoggedEvent[] | undefined> {
  const before = beforeId === undefined ? Number.MAX_SAFE_INTEGER : await readSeq(db, monitorId, beforeId);
  if (before === 'foreign') return undefined;
  if (before === undefined) return [];
  return readRows<LoggedEvent>(db, 'events-read-log')`
    SELECT id, kind, payload, created_at AS "createdAt", delivery_status AS "deliveryStatus", attempt AS attempts,
      last_attempt_at AS "lastAttemptAt", last_status AS "lastStatus", last_error AS "lastError",
      next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
    FROM monitor_events
    WHERE monitor_id = ${monitorId} AND seq < ${before}
    ORDER BY seq DESC
    LIMIT ${limit}`;
}

async function readSeq(db: Queryable, monitorId: string, id: string): Promise<number | 'foreign' | undefined> {
  const event = await readRow<{ seq: number; monitorId: string }>(db)`
    SELECT seq, monitor_id AS "monitorId" FROM monitor_events WHERE id = ${id}`;
  return event === undefined || event.monitorId === monitorId ? event?.seq : 'foreign';
}
