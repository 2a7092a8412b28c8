import type { Queryable } from '../../postgres/pool.ts';

/** A match as a feed shows it. */
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
  /** When the forum removed the thing; its text and author are blank then. */
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
  const { rows } = await db.query<FeedMatch>({
    name: 'feed-matches',
    text: `
      SELECT m.seq, m.kind, m.matched_terms AS "matchedTerms", m.created_at AS "createdAt", i.subreddit, i.author, i.title,
             left(i.body, $4) AS body, length(i.body) > $4 AS "isCut", i.permalink, i.created_utc AS "createdUtc", r.at AS "removedAt"
      FROM (
        SELECT seq, thing_id, kind, matched_terms, created_at
        FROM (SELECT * FROM matches WHERE monitor_id = $1 ORDER BY seq DESC LIMIT $2) AS last
        WHERE NOT suppressed
        ORDER BY seq DESC
        LIMIT $3
      ) AS m
      JOIN matched_items i ON i.thing_id = m.thing_id
      LEFT JOIN removed_things r ON r.thing_id = m.thing_id
      ORDER BY m.seq DESC`,
    values: [monitorId, newest, limit, bodyLength],
  });
  return rows;
}
