import type { StoredMatch } from './rules/match-resource.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRows, sql } from '../postgres/sql.ts';

/** Matches with their contents as `StoredMatch`; a condition follows. */
export const STORED_MATCHES = sql`
  SELECT m.seq, m.thing_id AS "thingId", m.kind, m.matched_terms AS "matchedTerms", m.suppressed,
    m.suppressed_reason AS "suppressedReason", m.backfill, m.delivery_status AS "deliveryStatus",
    m.created_at AS "createdAt", m.delivered_at AS "deliveredAt", i.post_id AS "postId", i.subreddit, i.author, i.title,
    i.body, i.permalink, i.created_utc AS "createdUtc"
  FROM matches m
  JOIN matched_items i ON i.thing_id = m.thing_id`;

/**
 * Reads the first `limit` matches after a seq, oldest first. A seq is committed after all smaller seqs of its monitor,
 * so a reader that continues after the last one it got never misses any.
 *
 * @param afterSeq 0 to begin with the oldest stored match
 */
export async function readMatchesAfter(
  db: Queryable,
  monitorId: string,
  afterSeq: number,
  limit: number,
): Promise<StoredMatch[]> {
  return readRows<StoredMatch>(db, 'match-page-after')`
    ${STORED_MATCHES}
    WHERE m.monitor_id = ${monitorId} AND m.seq > ${afterSeq}
    ORDER BY m.seq
    LIMIT ${limit}`;
}

/** Newest first. @param beforeSeq undefined to begin with the newest */
export async function readMatchesBefore(
  db: Queryable,
  monitorId: string,
  beforeSeq: number | undefined,
  limit: number,
): Promise<StoredMatch[]> {
  return readRows<StoredMatch>(db, 'match-page-before')`
    ${STORED_MATCHES}
    WHERE m.monitor_id = ${monitorId} AND m.seq < ${beforeSeq ?? Number.MAX_SAFE_INTEGER}
    ORDER BY m.seq DESC
    LIMIT ${limit}`;
}
