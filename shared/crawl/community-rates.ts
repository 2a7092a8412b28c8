import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** Counts fall to 1/e in this time, so that they follow the communities and average over the hours of a day. */
const DECAY_SECONDS = 86_400;
/** A rate that was measured for a shorter time is chance. */
const MIN_MEASURED_SECONDS = 600;

/** Counted since the counts were last added. */
export interface CommunityCount {
  subreddit: string;
  comments: number;
  posts: number;
}

export interface CommunityRate {
  subreddit: string;
  /** A second. */
  comments: number;
  /** A second. */
  posts: number;
}

/** Each community at most once. If the answer is lost, they may be added again: rates are estimates. */
export async function addCommunityCounts(db: Queryable, counts: readonly CommunityCount[]): Promise<void> {
  // Sorted, so that processes that add at the same time lock the rows in one order.
  await execute(db)`
    INSERT INTO community_rates AS r (subreddit, comments, posts, first_at, updated_at)
    SELECT subreddit, comments, posts, service_now(), service_now()
      FROM json_to_recordset(${JSON.stringify(counts)})
           AS added (subreddit text, comments float8, posts float8)
     ORDER BY subreddit COLLATE "C"
    ON CONFLICT (subreddit) DO UPDATE SET
      comments = r.comments * daily_decay(r.updated_at, excluded.updated_at) + excluded.comments,
      posts = r.posts * daily_decay(r.updated_at, excluded.updated_at) + excluded.posts,
      updated_at = greatest(r.updated_at, excluded.updated_at)`;
}

/**
 * Reads the communities of a slice: each is in exactly one of `slices` slices, by a hash of its name. `share` is the
 * part of this slice in the comments of all communities, from 0 to 1.
 */
export async function readCommunityRates(
  db: Queryable,
  { slice, slices }: { slice: number; slices: number },
): Promise<{ communities: CommunityRate[]; share: number }> {
  const rows = await readRows<CommunityRate & { measured_seconds: number; total: number }>(db)`
    WITH now AS MATERIALIZED (
      SELECT service_now() AS at
    ), decayed AS MATERIALIZED (
      SELECT subreddit, comments, posts, first_at, daily_decay(updated_at, now.at) AS left_over,
             (hashtextextended(subreddit, 0) & 1073741823) % ${slices} = ${slice} AS is_mine
        FROM community_rates, now
    ), total AS (
      SELECT sum(comments * left_over) AS comments,
             extract(epoch FROM (SELECT at FROM now) - min(first_at))::float8 AS measured_seconds
        FROM decayed
    )
    SELECT subreddit, d.comments * left_over AS comments, posts * left_over AS posts,
           total.measured_seconds, total.comments AS total
      FROM decayed d, total
     WHERE is_mine`;
  const measured = Math.max(MIN_MEASURED_SECONDS, rows[0]?.measured_seconds ?? 0);
  // A count that decays reaches rate times DECAY_SECONDS in the end, and this part of it by now.
  const seconds = DECAY_SECONDS * (1 - Math.exp(-measured / DECAY_SECONDS));
  const communities = rows.map(({ subreddit, comments, posts }) => ({
    subreddit,
    comments: comments / seconds,
    posts: posts / seconds,
  }));
  const mine = rows.reduce((sum, { comments }) => sum + comments, 0);
  const total = rows[0]?.total ?? 0;
  return { communities, share: total > 0 ? mine / total : 1 / slices };
}

/** Deletes all but the `keep` most active communities; returns how many were deleted. */
export async function trimCommunityRates(db: Queryable, keep: number): Promise<number> {
  // Rows that another process is adding to are skipped until the next time, so nothing waits in the wrong order.
  return execute(db)`
    DELETE FROM community_rates WHERE subreddit IN (
      SELECT subreddit FROM community_rates WHERE subreddit IN (
        SELECT subreddit FROM community_rates
         ORDER BY (comments + posts) * daily_decay(updated_at, (SELECT service_now())) DESC, subreddit
        OFFSET ${keep})
      FOR UPDATE SKIP LOCKED)`;
}
