import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

export interface ListedDelivery {
  monitorId: string;
  accountId: string;
  seq: number;
  thingId: string;
  matchedAt: Date;
  /** Attempts made so far. */
  attempts: number;
  nextAttemptAt: Date | null;
  /** Of the last attempt; null without any. `lastStatus` is 0 when there was no answer. */
  lastAttemptAt: Date | null;
  lastHost: string | null;
  lastStatus: number | null;
  lastError: string | null;
}

export interface DeliveryFilter {
  status: 'pending' | 'failed';
  /** The monitors to look at; undefined: all, which needs an index that only pending deliveries have. */
  monitorIds: readonly string[] | undefined;
  limit: number;
}

/** Lists deliveries by monitor; of a monitor the oldest match first. */
export async function listDeliveries(db: Queryable, filter: DeliveryFilter): Promise<ListedDelivery[]> {
  return readRows<ListedDelivery>(db)`
    WITH listed AS MATERIALIZED (
      SELECT monitor_id, seq, thing_id, created_at, attempt, next_attempt_at
        FROM matches
       WHERE delivery_status = ${filter.status} AND (${filter.monitorIds ?? null}::text[] IS NULL OR monitor_id = ANY
         (${filter.monitorIds ?? null}))
       LIMIT ${filter.limit}
    )
    SELECT listed.monitor_id AS "monitorId", m.account_id AS "accountId", seq, thing_id AS "thingId",
           listed.created_at AS "matchedAt", listed.attempt AS attempts, listed.next_attempt_at AS "nextAttemptAt",
           last.started_at AS "lastAttemptAt", last.host AS "lastHost", last.status AS "lastStatus",
           last.error AS "lastError"
      FROM listed
      JOIN monitors m ON m.id = listed.monitor_id
      LEFT JOIN LATERAL (
        SELECT started_at, host, status, error FROM delivery_attempts a
         WHERE a.monitor_id = listed.monitor_id AND a.seq = listed.seq
         ORDER BY a.attempt DESC LIMIT 1
      ) AS last ON true
     ORDER BY listed.monitor_id, seq`;
}

/**
 * Finds monitors after `afterId`, by id, with a webhook and failed deliveries of matches recorded at `since` or later.
 * Reads the matches of at most `limit` monitors.
 *
 * @returns those that have some, and the last monitor that was looked at; undefined at the end
 */
export async function findMonitorsWithFailed(
  db: Queryable,
  afterId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<{ monitorIds: string[]; lastId: string | undefined }> {
  const rows = await readRows<{ id: string; hasFailed: boolean }>(db)`
    SELECT id, EXISTS (SELECT FROM matches
                       WHERE monitor_id = looked.id AND delivery_status = 'failed'
                         AND created_at >= ${since}) AS "hasFailed"
     FROM (SELECT id FROM monitors
            WHERE id > ${afterId} AND status <> 'deleted' AND webhook_url IS NOT NULL
            ORDER BY id LIMIT ${limit}) AS looked
    ORDER BY id`;
  return { monitorIds: rows.filter(({ hasFailed }) => hasFailed).map(({ id }) => id), lastId: rows.at(-1)?.id };
}
