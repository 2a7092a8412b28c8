import type { Queryable } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/sql.ts';

/** Replaces the token of a monitor's feed. Requires the monitor's lock. */
export async function putFeedToken(db: Queryable, monitorId: string, tokenHash: Uint8Array): Promise<void> {
  await execute(db)`
    INSERT INTO feed_tokens (monitor_id, token_hash) VALUES (${monitorId}, ${tokenHash})
    ON CONFLICT (monitor_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at`;
}

export async function deleteFeedToken(db: Queryable, monitorId: string): Promise<void> {
  await execute(db)`DELETE FROM feed_tokens WHERE monitor_id = ${monitorId}`;
}

/** When the feed of a monitor got its address; undefined when it has none. */
export async function readFeedTokenTime(db: Queryable, monitorId: string): Promise<Date | undefined> {
  const row = await readRow<{ at: Date }>(db)`
    SELECT created_at AS at FROM feed_tokens WHERE monitor_id = ${monitorId}`;
  return row?.at;
}

export interface FoundFeed {
  accountId: string;
  monitorId: string;
  /** The monitor's name. */
  name: string;
  /** When the monitor or the address of its feed last changed. */
  changedAt: Date;
}

/** Finds a feed by the hash of its token, unless its monitor is deleted or its account is not active. */
export async function findFeed(db: Queryable, tokenHash: Uint8Array): Promise<FoundFeed | undefined> {
  return readRow<FoundFeed>(db, 'find-feed')`
    SELECT m.account_id AS "accountId", m.id AS "monitorId", m.name, greatest(t.created_at, m.updated_at) AS "changedAt"
    FROM feed_tokens t
    JOIN monitors m ON m.id = t.monitor_id
    JOIN accounts a ON a.id = m.account_id
    WHERE t.token_hash = ${tokenHash} AND m.status <> 'deleted' AND a.status = 'active'`;
}

export interface FeedMatch {
  seq: number;
  kind: 'post' | 'comment';
  matchedTerms: string[];
  createdAt: Date;
  subreddit: string;
  author: string;
  title: string;
  /** Cut. */
  body: string;
  isCut: boolean;
  permalink: string;
  createdUtc: Date;
  /** When the forum removed the item; its text and author are blank then. */
  removedAt: Date | null;
}

/**
 * Reads the newest matches of a monitor that are not suppressed, newest first, with at most `bodyLength` characters of
 * each body. Only the newest `newest` matches are looked at, so that a feed costs the same however many are suppressed.
 */
export async function readFeedMatches(
  db: Queryable,
  monitorId: string,
  { newest, limit, bodyLength }: { newest: number; limit: number; bodyLength: number },
): Promise<FeedMatch[]> {
  return readRows<FeedMatch>(db, 'feed-matches')`
    SELECT m.seq, m.kind, m.matched_terms AS "matchedTerms", m.created_at AS "createdAt", i.subreddit, i.author,
      i.title,
           left(i.body, ${bodyLength}) AS body, length(i.body) > ${bodyLength} AS "isCut", i.permalink,
             i.created_utc AS "createdUtc", r.at AS "removedAt"
    FROM (
      SELECT seq, thing_id, kind, matched_terms, created_at
      FROM (SELECT * FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT ${newest}) AS last
      WHERE NOT suppressed
      ORDER BY seq DESC
      LIMIT ${limit}
    ) AS m
    JOIN matched_items i ON i.thing_id = m.thing_id
    LEFT JOIN removed_things r ON r.thing_id = m.thing_id
    ORDER BY m.seq DESC`;
}
