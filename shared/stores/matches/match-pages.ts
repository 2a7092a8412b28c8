import type { DeliveryStatus } from '../../../schemas/messages/recorded-match.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A match with the content of its thing as it was first matched. */
export interface StoredPageMatch {
  seq: number;
  thing_id: string;
  kind: 'post' | 'comment';
  matched_terms: string[];
  suppressed: boolean;
  delivery_status: DeliveryStatus;
  created_at: Date;
  delivered_at: Date | null;
  post_id: string;
  subreddit: string;
  author: string;
  title: string;
  body: string;
  permalink: string;
  created_utc: Date;
}

/**
 * The first `limit` matches behind a seq, oldest first. A seq is committed after all smaller ones of its monitor, so a
 * reader that goes on after the last one it got never misses any.
 *
 * @param afterSeq 0: from the oldest kept
 */
export async function readMatchesAfter(
  db: Queryable,
  monitorId: string,
  afterSeq: number,
  limit: number,
): Promise<StoredPageMatch[]> {
  const { rows } = await db.query<StoredPageMatch>({
    name: 'match-page-after',
    text: `
      SELECT m.seq, m.thing_id, m.kind, m.matched_terms, m.suppressed, m.delivery_status, m.created_at, m.delivered_at,
             i.post_id, i.subreddit, i.author, i.title, i.body, i.permalink, i.created_utc
      FROM matches m
      JOIN matched_items i ON i.thing_id = m.thing_id
      WHERE m.monitor_id = $1 AND m.seq > $2
      ORDER BY m.seq
      LIMIT $3`,
    values: [monitorId, afterSeq, limit],
  });
  return rows;
}

/**
 * The last `limit` matches before a seq, newest first.
 *
 * @param beforeSeq undefined: from the newest
 */
export async function readMatchesBefore(
  db: Queryable,
  monitorId: string,
  beforeSeq: number | undefined,
  limit: number,
): Promise<StoredPageMatch[]> {
  const { rows } = await db.query<StoredPageMatch>({
    name: 'match-page-before',
    text: `
      SELECT m.seq, m.thing_id, m.kind, m.matched_terms, m.suppressed, m.delivery_status, m.created_at, m.delivered_at,
             i.post_id, i.subreddit, i.author, i.title, i.body, i.permalink, i.created_utc
      FROM matches m
      JOIN matched_items i ON i.thing_id = m.thing_id
      WHERE m.monitor_id = $1 AND m.seq < $2
      ORDER BY m.seq DESC
      LIMIT $3`,
    values: [monitorId, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit],
  });
  return rows;
}
