import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

export interface ArchivedPost {
  postId: string;
  /** Milliseconds since 1970, as all times here. */
  createdAt: number;
  /** Its community; empty if it was archived before communities were noted. */
  subreddit: string;
}

export interface ArchivedComment {
  seenAt: number;
  createdAt: number;
  /** Name of the crawl source. */
  source: string;
}

/** An item of the archive, and its place in the order by first sight. */
export interface SeenItem {
  thingId: string;
  seenAt: number;
}

/** Names and times of posts go into the URL of a request; some servers limit it to 16 KB. */
const MAX_IDS = 250;

// Questions about posts are asked of thread_items, which is ordered by post, and questions about a time of
// item_sightings, which is ordered by time: the other table would read all that was archived that day.

function select<Row>(
  clickhouse: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Row[]> {
  return selectRows<Row>(clickhouse, query, params, { seconds: 20, signal });
}

/**
 * Counts the archived comments of posts, by bare id, of each those created until a moment. Posts without any are not in
 * the result.
 *
 * @param posts each at most once
 */
export async function countArchivedComments(
  clickhouse: ClickHouseClient,
  posts: readonly { postId: string; until: number }[],
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let start = 0; start < posts.length; start += MAX_IDS) {
    const some = posts.slice(start, start + MAX_IDS);
    const rows = await select<{ postId: string; comments: number }>(
      clickhouse,
      `SELECT post_id AS postId, uniqExact(thing_id) AS comments
         FROM thread_items
        WHERE post_id IN {ids: Array(String)} AND kind = 'comment'
          AND toUnixTimestamp64Milli(created_utc) <= transform(post_id, {ids: Array(String)}, {untils: Array(Int64)}, 0)
        GROUP BY post_id`,
      { ids: some.map(({ postId }) => postId), untils: some.map(({ until }) => Math.floor(until)) },
      signal,
    );
    for (const { postId, comments } of rows) counts.set(postId, comments);
  }
  return counts;
}

/** The archived comments of a post, by fullname. */
export async function readArchivedComments(
  clickhouse: ClickHouseClient,
  postId: string,
  signal?: AbortSignal,
): Promise<Map<string, ArchivedComment>> {
  const rows = await select<Omit<ArchivedComment, 'source'> & { thingId: string; firstSource: string }>(
    clickhouse,
    `SELECT thing_id AS thingId, toUnixTimestamp64Milli(min(first_seen_at)) AS seenAt,
            toUnixTimestamp64Milli(any(created_utc)) AS createdAt, argMin(source, first_seen_at) AS firstSource
       FROM thread_items
      WHERE post_id = {id: String} AND kind = 'comment'
      GROUP BY thing_id`,
    { id: postId },
    signal,
  );
  return new Map(rows.map(({ thingId, firstSource, ...comment }) => [thingId, { ...comment, source: firstSource }]));
}

/**
 * Reads posts of the last four days by the time of their first sight, the earliest first.
 *
 * @param range from `from` (included) to `to`, only posts created since `createdFrom`
 */
export async function readArchivedPosts(
  clickhouse: ClickHouseClient,
  { from, to, createdFrom, limit }: { from: number; to: number; createdFrom: number; limit: number },
  signal?: AbortSignal,
): Promise<(ArchivedPost & { seenAt: number })[]> {
  const rows = await select<Omit<ArchivedPost, 'subreddit'> & { seenAt: number; community: string }>(
    clickhouse,
    `SELECT substring(thing_id, length('t3_') + 1) AS postId, toUnixTimestamp64Milli(min(created_utc)) AS createdAt,
            toUnixTimestamp64Milli(min(first_seen_at)) AS seenAt, max(subreddit) AS community
       FROM item_sightings
      WHERE kind = 'post'
        AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
        AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
        AND created_utc >= fromUnixTimestamp64Milli({created: Int64}, 'UTC')
      GROUP BY postId
      ORDER BY seenAt, postId
      LIMIT {limit: UInt32}`,
    { from: Math.floor(from), to: Math.ceil(to), created: Math.floor(createdFrom), limit },
    signal,
  );
  return rows.map(({ community, ...post }) => ({ ...post, subreddit: community }));
}

/**
 * Counts the comments of each post that were seen in a time range of the last four days; `oldestAt` is when its oldest
 * was created. Posts with comments between `alsoFrom` and `from` are in the result too, with those they have since.
 */
export async function readCommentActivity(
  clickhouse: ClickHouseClient,
  { alsoFrom, from, to, limit }: { alsoFrom?: number; from: number; to: number; limit: number },
  signal?: AbortSignal,
): Promise<{ postId: string; comments: number; oldestAt: number; subreddit: string }[]> {
  const rows = await select<{ postId: string; comments: number; oldestAt: number; community: string }>(
    clickhouse,
    `SELECT post_id AS postId,
            uniqExactIf(thing_id, first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')) AS comments,
            toUnixTimestamp64Milli(min(created_utc)) AS oldestAt, max(subreddit) AS community
       FROM item_sightings
      WHERE kind = 'comment' AND post_id != ''
        AND first_seen_at >= fromUnixTimestamp64Milli({also: Int64}, 'UTC')
        AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
      GROUP BY post_id
      ORDER BY comments DESC
      LIMIT {limit: UInt32}`,
    { also: Math.floor(alsoFrom ?? from), from: Math.floor(from), to: Math.floor(to), limit },
    signal,
  );
  return rows.map(({ community, ...post }) => ({ ...post, subreddit: community }));
}

/**
 * Reads items of the last four days in the order of their sight. One that several sources saw at different times is
 * read for each.
 *
 * @param options.after the last item read before; undefined: from `from`
 * @param options.share of all items, 0 to 1, chosen by a hash of their names
 */
export async function readSeenItems(
  clickhouse: ClickHouseClient,
  options: { after: SeenItem; to: number; share: number; limit: number },
  signal?: AbortSignal,
): Promise<SeenItem[]> {
  const { after, to, share, limit } = options;
  return select<SeenItem>(
    clickhouse,
    `SELECT thing_id AS thingId, toUnixTimestamp64Milli(first_seen_at) AS seenAt
       FROM item_sightings
      WHERE first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
        AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
        AND (first_seen_at > fromUnixTimestamp64Milli({from: Int64}, 'UTC') OR thing_id > {thing: String})
        AND cityHash64(thing_id) % 10000 < {share: UInt32}
      ORDER BY first_seen_at, thing_id
      LIMIT 1 BY thing_id
      LIMIT {limit: UInt32}`,
    { from: after.seenAt, thing: after.thingId, to: Math.floor(to), share: Math.round(share * 10_000), limit },
    signal,
  );
}

/**
 * Counts items of a time that were first seen after a moment: what a gap of that time was filled with. Items that
 * only appeared after that moment, and would have been seen without the gap, count too.
 */
export async function countItemsSeenAfter(
  clickhouse: ClickHouseClient,
  time: {
    kind: 'post' | 'comment';
    createdFrom: number;
    createdTo: number;
    seenAfter: number;
    /** Only items of these; default: of all. */
    communities?: readonly string[] | undefined;
  },
  signal?: AbortSignal,
): Promise<number> {
  const { kind, createdFrom, createdTo, seenAfter, communities } = time;
  const names = communities?.map((name) => name.toLowerCase()) ?? [];
  const [row] = await select<{ things: number }>(
    clickhouse,
    `SELECT count() AS things
       FROM (
         SELECT thing_id FROM item_sightings
          WHERE kind = {kind: String}
            AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
            AND created_utc >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
            AND created_utc <= fromUnixTimestamp64Milli({to: Int64}, 'UTC')
            AND ({isAny: Bool} OR lower(subreddit) IN {names: Array(String)})
          GROUP BY thing_id
         HAVING min(first_seen_at) > fromUnixTimestamp64Milli({seen: Int64}, 'UTC')
       )`,
    {
      kind,
      from: Math.floor(createdFrom),
      to: Math.ceil(createdTo),
      seen: Math.floor(seenAfter),
      isAny: communities === undefined,
      names,
    },
    signal,
  );
  return row?.things ?? 0;
}

/** When a post that was created in a time was last seen for the first time; undefined when none is archived. */
export async function lastSightOfPosts(
  clickhouse: ClickHouseClient,
  { createdFrom, createdTo }: { createdFrom: number; createdTo: number },
  signal?: AbortSignal,
): Promise<number | undefined> {
  const [row] = await select<{ posts: number; seenAt: number }>(
    clickhouse,
    `SELECT count() AS posts, toUnixTimestamp64Milli(max(firstSeen)) AS seenAt
       FROM (
         SELECT min(first_seen_at) AS firstSeen FROM item_sightings
          WHERE kind = 'post'
            AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
            AND created_utc >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
            AND created_utc <= fromUnixTimestamp64Milli({to: Int64}, 'UTC')
          GROUP BY thing_id
       )`,
    { from: Math.floor(createdFrom), to: Math.ceil(createdTo) },
    signal,
  );
  return row === undefined || row.posts === 0 ? undefined : row.seenAt;
}
