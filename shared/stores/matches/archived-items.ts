import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import { UNDECIDED_LANGUAGE } from '../../../schemas/messages/item-languages.ts';
import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import type { MatchItem } from '../../matching/rule.ts';

/** Longer texts are cut, so that one sample takes a few megabytes at most. */
const MOST_CHARACTERS = 4_000;

/**
 * Samples the archive: the things that were first seen last, within a day, without those that the forum removed.
 * item_sightings is in the order of time, and the things of one moment lie together in items.
 *
 * @param signal cancels the query and frees its connection
 */
export async function sampleArchivedItems(
  clickhouse: ClickHouseClient,
  limit: number,
  signal: AbortSignal,
): Promise<MatchItem[]> {
  const result = await clickhouse.query({
    query: `SELECT kind, substringUTF8(title, 1, {characters: UInt32}) AS title,
                   substringUTF8(body, 1, {characters: UInt32}) AS text, subreddit, nsfw, author,
                   if(language = '', {undecided: String}, language) AS language
  FROM items FINAL
 WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
   AND ver = 1
   AND thing_id IN (SELECT thing_id FROM item_sightings
                     WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
                     ORDER BY first_seen_at DESC LIMIT {limit: UInt32})`,
    query_params: { characters: MOST_CHARACTERS, limit, undecided: UNDECIDED_LANGUAGE },
    format: 'JSONEachRow',
    // A client that gives up does not end its statement.
    clickhouse_settings: { max_execution_time: 5 },
    abort_signal: signal,
  });
  return result.json<MatchItem>();
}

/** An item of the archive as it was first seen; blank once the forum removed it. */
export interface ArchivedThing {
  content: ItemContent;
  /** `und` when it is not decided. */
  language: string;
  source: string;
  /** ISO 8601. */
  firstSeenAt: string;
}

/** Times as ISO 8601. The columns are named with their table, so that no alias takes their place. */
const CREATED_UTC = `formatDateTime(items.created_utc, '%Y-%m-%dT%H:%i:%S', 'UTC') || '.' ||
                     leftPad(toString(toUnixTimestamp64Milli(items.created_utc) % 1000), 3, '0') || 'Z'`;
const FIRST_SEEN_AT = `formatDateTime(items.first_seen_at, '%Y-%m-%dT%H:%i:%S', 'UTC') || '.' ||
                       leftPad(toString(toUnixTimestamp64Milli(items.first_seen_at) % 1000), 3, '0') || 'Z'`;

type ThingRow = ItemContent & { language: string; source: string; first_seen_at: string };

/**
 * Finds an item of the last 30 days; undefined when it is not in the archive.
 *
 * @param signal cancels the query and frees its connection
 */
export async function findArchivedThing(
  clickhouse: ClickHouseClient,
  thingId: string,
  signal: AbortSignal,
): Promise<ArchivedThing | undefined> {
  const result = await clickhouse.query({
    query: `SELECT thing_id, kind, post_id, nullIf(parent_id, '') AS parent_id, subreddit, author, title, body, permalink,
                   nsfw, if(language = '', {undecided: String}, language) AS language, source,
                   ${CREATED_UTC} AS created_utc, ${FIRST_SEEN_AT} AS first_seen_at
  FROM items FINAL
 WHERE thing_id = {thing_id: String} AND items.first_seen_at > now64(3) - INTERVAL 30 DAY`,
    query_params: { thing_id: thingId, undecided: UNDECIDED_LANGUAGE },
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: 5 },
    abort_signal: signal,
  });
  const [row] = await result.json<ThingRow>();
  if (row === undefined) return undefined;
  const { language, source, first_seen_at: firstSeenAt, ...content } = row;
  return { content, language, source, firstSeenAt };
}
