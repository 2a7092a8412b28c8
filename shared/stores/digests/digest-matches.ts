import type { StoredMatch } from '../../domain/match-resource.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A range of seqs: greater than `after`, up to `until`. */
export interface DigestRange {
  monitorId: string;
  after: number;
  until: number;
}

/**
 * Reads the first `limit` matches of a digest, oldest first, with their content as it is now: what the forum removed
 * meanwhile is blanked. Matches that are suppressed or that a backfill found are left out.
 */
export async function readDigestMatches(
  db: Queryable,
  { monitorId, after, until }: DigestRange,
  limit: number,
): Promise<StoredMatch[]> {
  const { rows } = await db.query<StoredMatch>({
    name: 'digests-read-matches',
    text: `
      SELECT m.seq, m.thing_id AS "thingId", m.kind, m.matched_terms AS "matchedTerms", m.suppressed,
             m.suppressed_reason AS "suppressedReason", m.backfill, m.delivery_status AS "deliveryStatus",
             m.created_at AS "createdAt", m.delivered_at AS "deliveredAt",
             i.post_id AS "postId", i.subreddit, i.author, i.title, i.body, i.permalink, i.created_utc AS "createdUtc"
      FROM matches m
      JOIN matched_items i ON i.thing_id = m.thing_id
      WHERE m.monitor_id = $1 AND m.seq > $2 AND m.seq <= $3 AND NOT m.suppressed AND NOT m.backfill
      ORDER BY m.seq
      LIMIT $4`,
    values: [monitorId, after, until, limit],
  });
  return rows;
}
