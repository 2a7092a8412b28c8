import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import { ENDS_WITH_CLIENT } from '../../clickhouse/ends-with-client.ts';

/** A comment of the archive as it was first seen. */
export interface ArchivedComment {
  thingId: string;
  postId: string;
  subreddit: string;
  /** Title of the post. */
  title: string;
  body: string;
  nsfw: boolean;
  /** ISO 8601. */
  createdUtc: string;
  /** Higher when the terms occur more often, lower for longer comments. Depends on the comment alone. */
  relevance: number;
}

export interface CommentQuery {
  /** Words that a comment must contain (shared/matching/searchable-words.ts), at least one. */
  words: readonly string[];
  /** The search terms as written. Their number of occurrences decides the relevance. */
  terms: readonly string[];
  /** Without r/; undefined for all subreddits. */
  subreddit: string | undefined;
  /** ISO 8601; undefined for everything that is stored. */
  since: string | undefined;
  order: 'relevance' | 'new';
  /** The comment after which the page begins. */
  after: ArchivedComment | undefined;
  limit: number;
}

// No alias repeats a column's name: ClickHouse would use the alias in WHERE and ORDER BY too.
const COLUMNS = `thing_id AS thingId, post_id AS postId, subreddit, title, body, nsfw,
       formatDateTime(created_utc, '%Y-%m-%dT%H:%i:%S', 'UTC') || '.' || leftPad(toString(toUnixTimestamp64Milli(created_utc) % 1000), 3, '0') || 'Z'
         AS createdUtc,
       toInt64(intDiv(100000 * arraySum(term -> least(5, countSubstringsCaseInsensitiveUTF8(body, term)), {terms: Array(String)}),
                      100 + lengthUTF8(body))) AS relevance`;

/** A little longer than the caller waits: an engine that cannot end a statement with its client ends it then. */
const SETTINGS = { ...ENDS_WITH_CLIENT, max_execution_time: 8 };

/** Hides rows past their retention that ClickHouse has not merged away yet. */
const KEPT = 'first_seen_at > now64(3) - INTERVAL 30 DAY';

/**
 * Finds comments that contain all words, best first. The caller decides with shared/matching whether the terms occur.
 *
 * @param signal cancels the query and frees its connection
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
  const afterCursor =
    after === undefined
      ? ''
      : order === 'new'
        ? `AND (created_utc, thing_id) < (parseDateTime64BestEffort({after_time: String}, 3), {after_id: String})`
        : `AND (relevance, thing_id) < ({after_relevance: Int64}, {after_id: String})`;
  const result = await clickhouse.query({
    query: `SELECT ${COLUMNS}
  FROM items FINAL
 WHERE ${conditions.join(' AND ')} ${afterCursor}
 ORDER BY ${key} DESC, thing_id DESC
 LIMIT {limit: UInt32}`,
    query_params: {
      words: [...query.words],
      terms: foldedOnce(query.terms),
      subreddit: query.subreddit ?? '',
      since: query.since ?? '',
      after_time: after?.createdUtc ?? '',
      after_relevance: after?.relevance ?? 0,
      after_id: after?.thingId ?? '',
      limit: query.limit,
    },
    format: 'JSONEachRow',
    clickhouse_settings: SETTINGS,
    ...(signal ? { abort_signal: signal } : {}),
  });
  return result.json<ArchivedComment>();
}

/** Terms that differ only in case occur equally often, and each one costs a pass over the text. */
function foldedOnce(terms: readonly string[]): string[] {
  return [...new Map(terms.map((term) => [term.toLowerCase(), term])).values()];
}

/**
 * Finds one comment with its relevance for these terms; undefined when it is not in the archive.
 *
 * @param signal cancels the query and frees its connection
 */
export async function findArchivedComment(
  clickhouse: ClickHouseClient,
  thingId: string,
  terms: readonly string[],
  signal?: AbortSignal,
): Promise<ArchivedComment | undefined> {
  const result = await clickhouse.query({
    query: `SELECT ${COLUMNS} FROM items FINAL WHERE thing_id = {thing_id: String} AND kind = 'comment' AND ${KEPT}`,
    query_params: { thing_id: thingId, terms: foldedOnce(terms) },
    format: 'JSONEachRow',
    clickhouse_settings: SETTINGS,
    ...(signal ? { abort_signal: signal } : {}),
  });
  return (await result.json<ArchivedComment>())[0];
}
