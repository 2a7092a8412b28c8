import type { StoredMatch } from '../../domain/match-resource.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { STORED_MATCHES } from '../matches/match-pages.ts';

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
      ${STORED_MATCHES}
      WHERE m.monitor_id = $1 AND m.seq > $2 AND m.seq <= $3 AND NOT m.suppressed AND NOT m.backfill
      ORDER BY m.seq
      LIMIT $4`,
    values: [monitorId, after, until, limit],
  });
  return rows;
}
