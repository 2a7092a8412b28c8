import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import { UNDECIDED_LANGUAGE } from '../../../schemas/messages/item-languages.ts';
import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import { selectRows } from '../../clickhouse/clickhouse-client.ts';
import type { MatchItem } from '../../matching/rule.ts';
import type { ArchivedItem } from '../archive/archived-item.ts';

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
  return selectRows<MatchItem>(
    clickhouse,
    `SELECT kind, substringUTF8(title, 1, {characters: UInt32}) AS title,
                   substringUTF8(body, 1, {characters: UInt32}) AS text, subreddit, nsfw, author,
                   if(language = '', {undecided: String}, language) AS language
  FROM items FINAL
 WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
   AND ver = 1
   AND thing_id IN (SELECT thing_id FROM item_sightings
                     WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
                     ORDER BY first_seen_at DESC LIMIT {limit: UInt32})`,
    { characters: MOST_CHARACTERS, limit, undecided: UNDECIDED_LANGUAGE },
    { seconds: 5, signal },
  );
}

/** Columns of an item, with times in milliseconds. No alias is a column's name: WHERE would read the alias. */
interface ThingRow {
  content: Omit<ItemContent, 'created_utc'>;
  createdUtcMs: number;
  firstSeenAtMs: number;
  decidedLanguage: string;
  source: string;
}

/**
 * Finds an item of the last 30 days; undefined when it is not in the archive. It is blank when the forum removed it.
 *
 * @param signal cancels the query and frees its connection
 */
export async function findArchivedThing(
  clickhouse: ClickHouseClient,
  thingId: string,
  signal: AbortSignal,
): Promise<ArchivedItem | undefined> {
  const [row] = await selectRows<ThingRow>(
    clickhouse,
    `SELECT CAST(tuple(thing_id, kind, post_id, nullIf(parent_id, ''), subreddit, author, title, body, permalink, nsfw),
                   'Tuple(thing_id String, kind String, post_id String, parent_id Nullable(String), subreddit String,
                          author String, title String, body String, permalink String, nsfw Bool)') AS content,
                   toUnixTimestamp64Milli(created_utc) AS createdUtcMs,
                   toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs,
                   if(language = '', {undecided: String}, language) AS decidedLanguage, source
  FROM items FINAL
 WHERE thing_id = {thing_id: String} AND first_seen_at > now64(3) - INTERVAL 30 DAY`,
    { thing_id: thingId, undecided: UNDECIDED_LANGUAGE },
    { seconds: 5, signal },
  );
  return (
    row && {
      content: { ...row.content, created_utc: new Date(row.createdUtcMs).toISOString() },
      firstSeenAt: new Date(row.firstSeenAtMs).toISOString(),
      language: row.decidedLanguage,
      source: row.source,
    }
  );
}
