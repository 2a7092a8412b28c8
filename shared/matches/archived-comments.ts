import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

/** A comment of the archive as it was first seen; blank when the forum removed it. */
export interface ArchivedComment {
  thingId: string;
  /** Title of the post. */
  title: string;
  body: string;
  nsfw: boolean;
  /** ISO 8601. */
  createdUtc: string;
}

export interface NewestComments {
  /** Words that a comment must contain (shared/matching/searchable-words.ts), at least one. */
  words: readonly string[];
  /** Without r/; undefined for all subreddits. */
  subreddit: string | undefined;
  /** Milliseconds since the epoch; undefined for everything that is stored. */
  since: number | undefined;
  /** The comment after which the page begins. */
  after: ArchivedComment | undefined;
  /** Milliseconds since the epoch. Where the search begins to look; later comments are found too. */
  now: number;
  limit: number;
}

// No alias repeats a column's name: ClickHouse would use the alias in WHERE and ORDER BY too.
const COLUMNS = `thing_id AS thingId, title, body, nsfw,
       formatDateTime(created_utc, '%Y-%m-%dT%H:%i:%S', 'UTC') || '.' || leftPad(toString(toUnixTimestamp64Milli(created_utc) % 1000), 3, '0') || 'Z'
         AS createdUtc`;

/** A little longer than the caller waits: an engine that cannot end a statement with its client ends it then. */
const STATEMENT_SECONDS = 8;

/** Hides rows past their retention that ClickHouse has not merged away yet. */
const KEPT = 'first_seen_at > now64(3) - INTERVAL 30 DAY';

const MINUTE_MS = 60_000;
/**
 * How far back a search looks, step by step, before it looks through everything: of a frequent word the last minutes
 * hold enough, and the text of all that has it need not be read.
 */
const WINDOWS_MS = [15, 60, 240, 960, 3_840].map((minutes) => minutes * MINUTE_MS);
/** A comment may have been created after it was seen by this much: the forum's clock is not ours. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

/** Comments that contain all words, the latest created first. shared/matching decides whether the terms occur. */
export async function findNewestComments(
  clickhouse: ClickHouseClient,
  query: NewestComments,
  signal?: AbortSignal,
): Promise<ArchivedComment[]> {
  const { after, since = 0, now, limit } = query;
  const upTo = after === undefined ? now : Date.parse(after.createdUtc);
  for (const windowMs of WINDOWS_MS) {
    const from = upTo - windowMs;
    if (from <= since) break;
    const found = await readCreatedSince(clickhouse, query, { from, seenFrom: from - CLOCKS_DIFFER_MS }, signal);
    if (found.length === limit) return found;
  }
  return readCreatedSince(clickhouse, query, { from: since, seenFrom: 0 }, signal);
}

async function readCreatedSince(
  clickhouse: ClickHouseClient,
  { words, subreddit, after, limit }: NewestComments,
  { from, seenFrom }: { from: number; seenFrom: number },
  signal: AbortSignal | undefined,
): Promise<ArchivedComment[]> {
  const conditions = [
    `kind = 'comment'`,
    KEPT,
    `first_seen_at >= fromUnixTimestamp64Milli({seen_from: Int64}, 'UTC')`,
    `created_utc >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')`,
    `hasAllTokens(words, {words: Array(String)})`,
    ...(subreddit === undefined ? [] : ['lower(subreddit) = lower({subreddit: String})']),
    ...(after === undefined
      ? []
      : [`(created_utc, thing_id) < (parseDateTime64BestEffort({after_time: String}, 3), {after_id: String})`]),
  ];
  return selectRows<ArchivedComment>(
    clickhouse,
    `SELECT ${COLUMNS}
  FROM items FINAL
 WHERE ${conditions.join(' AND ')}
 ORDER BY created_utc DESC, thing_id DESC
 LIMIT {limit: UInt32}`,
    {
      words: [...words],
      subreddit: subreddit ?? '',
      from,
      seen_from: seenFrom,
      after_time: after?.createdUtc ?? '',
      after_id: after?.thingId ?? '',
      limit,
    },
    { seconds: STATEMENT_SECONDS, signal },
  );
}

export async function findArchivedComment(
  clickhouse: ClickHouseClient,
  thingId: string,
  signal?: AbortSignal,
): Promise<ArchivedComment | undefined> {
  const rows = await selectRows<ArchivedComment>(
    clickhouse,
    `SELECT ${COLUMNS} FROM items FINAL WHERE thing_id = {thing_id: String} AND kind = 'comment' AND ${KEPT}`,
    { thing_id: thingId },
    { seconds: STATEMENT_SECONDS, signal },
  );
  return rows[0];
}
