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
