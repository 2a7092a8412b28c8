import { UNDECIDED_LANGUAGE } from '../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';
import type { MatchItem } from '../matching/rule.ts';

/** The distinct words of one archived item, and its community. */
export interface ArchivedWords {
  words: string[];
  subreddit: string;
}

/** Longer texts are cut, so that one sample takes a few megabytes at most. */
const MOST_WORDS = 300;
const MOST_CHARACTERS = 4_000;

/**
 * Samples the words of the items that were first seen last, within a day, without those that the forum removed.
 * item_sightings is in the order of time, and the items of one moment lie together in items.
 */
export async function sampleArchivedWords(
  clickhouse: ClickHouseClient,
  limit: number,
  signal: AbortSignal,
): Promise<ArchivedWords[]> {
  return selectRows<ArchivedWords>(
    clickhouse,
    `SELECT arraySlice(splitByChar(' ', words), 1, {most: UInt32}) AS words, subreddit
  FROM items FINAL
 WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
   AND ver = 1
   AND thing_id IN (SELECT thing_id FROM item_sightings
                     WHERE first_seen_at > now64(3) - INTERVAL 1 DAY
                     ORDER BY first_seen_at DESC LIMIT {limit: UInt32})`,
    { limit, most: MOST_WORDS },
    { seconds: 5, signal },
  );
}

/** The same items, as matching sees them. */
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

/** When the oldest item of the archive was seen; undefined when it is empty. Read from the parts' bounds. */
export async function readArchiveStart(clickhouse: ClickHouseClient, signal: AbortSignal): Promise<Date | undefined> {
  const [row] = await selectRows<{ items: number; startMs: number }>(
    clickhouse,
    `SELECT count() AS items, toUnixTimestamp64Milli(greatest(min(first_seen_at), now64(3) - INTERVAL 30 DAY)) AS startMs FROM items`,
    {},
    { seconds: 5, signal },
  );
  return row === undefined || row.items === 0 ? undefined : new Date(row.startMs);
}
