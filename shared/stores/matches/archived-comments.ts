import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';

/** A comment of the archive, as it was when it was first seen. */
export interface ArchivedComment {
  thingId: string;
  postId: string;
  subreddit: string;
  /** The title of its post. */
  title: string;
  body: string;
  nsfw: boolean;
  /** ISO 8601. */
  createdUtc: string;
  /** Grows with how often the terms occur and shrinks with the length; depends on the comment alone. */
  relevance: number;
}

export interface CommentQuery {
  /** Words that a comment must have (shared/matching/searchable-words.ts), at least one. */
  words: readonly string[];
  /** What was asked for, as it was written: how often it occurs counts. */
  terms: readonly string[];
  /** Without r/; undefined: everywhere. */
  subreddit: string | undefined;
  /** ISO 8601; undefined: all that is kept. */
  since: string | undefined;
  order: 'relevance' | 'new';
  /** The comment after which to go on. */
  after: ArchivedComment | undefined;
  limit: number;
}

// No alias repeats a column's name: ClickHouse would use the alias in WHERE and ORDER BY too.
const COLUMNS = `thing_id AS thingId, post_id AS postId, subreddit, title, body, nsfw,
       formatDateTime(created_utc, '%Y-%m-%dT%H:%i:%S', 'UTC') || '.' || leftPad(toString(toUnixTimestamp64Milli(created_utc) % 1000), 3, '0') || 'Z'
         AS createdUtc,
       toInt64(intDiv(100000 * arraySum(term -> least(5, countSubstringsCaseInsensitiveUTF8(body, term)), {terms: Array(String)}),
                      100 + lengthUTF8(body))) AS relevance`;

/** Whether rows past their time are merged away yet or not. */
const KEPT = 'first_seen_at > now64(3) - INTERVAL 30 DAY';

/**
 * Comments that may be what was asked for, best first: what has the words. Whether the terms occur is for
 * shared/matching to say.
 *
 * @param signal ends it, and frees its connection
 */
export async function searchArchivedComments(
  clickhouse: ClickHouseClient,
  query: CommentQuery,
  signal?: AbortSignal,
): Promise<ArchivedComment[]> {
  const { after, order } = query;
  const key = order === 'new' ? 'created_utc' : 'relevance';
  const conditions = [
    `kind = 'comment'`,
    KEPT,
    `hasAllTokens(words, {words: Array(String)})`,
    ...(query.subreddit === undefined ? [] : ['lower(subreddit) = lower({subreddit: String})']),
    ...(query.since === undefined ? [] : ['created_utc >= parseDateTime64BestEffort({since: String}, 3)']),
  ];
  const beyond =
    after === undefined
      ? ''
      : order === 'new'
        ? `AND (created_utc, thing_id) < (parseDateTime64BestEffort({after_time: String}, 3), {after_id: String})`
        : `AND (relevance, thing_id) < ({after_relevance: Int64}, {after_id: String})`;
  const result = await clickhouse.query({
    query: `SELECT ${COLUMNS}
  FROM items FINAL
 WHERE ${conditions.join(' AND ')} ${beyond}
 ORDER BY ${key} DESC, thing_id DESC
 LIMIT {limit: UInt32}`,
    query_params: {
      words: [...query.words],
      terms: [...query.terms],
      subreddit: query.subreddit ?? '',
      since: query.since ?? '',
      after_time: after?.createdUtc ?? '',
      after_relevance: after?.relevance ?? 0,
      after_id: after?.thingId ?? '',
      limit: query.limit,
    },
    format: 'JSONEachRow',
    ...(signal ? { abort_signal: signal } : {}),
  });
  return result.json<ArchivedComment>();
}

/**
 * One comment, with its relevance for these terms; undefined: it is not in the archive. @param signal as of
 * searchArchivedComments
 */
export async function findArchivedComment(
  clickhouse: ClickHouseClient,
  thingId: string,
  terms: readonly string[],
  signal?: AbortSignal,
): Promise<ArchivedComment | undefined> {
  const result = await clickhouse.query({
    query: `SELECT ${COLUMNS} FROM items FINAL WHERE thing_id = {thing_id: String} AND kind = 'comment' AND ${KEPT}`,
    query_params: { thing_id: thingId, terms: [...terms] },
    format: 'JSONEachRow',
    ...(signal ? { abort_signal: signal } : {}),
  });
  return (await result.json<ArchivedComment>())[0];
}
