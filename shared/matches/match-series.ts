import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

const STATEMENT_SECONDS = 5;
/** A match can be recorded this much before it was first seen, by the clocks of two machines. */
const SKEW_MS = 60_000;

export interface SeriesQuery {
  monitorId: string;
  /** Whole intervals in milliseconds since 1970; `to` is exclusive. */
  from: number;
  to: number;
  interval: 'hour' | 'day';
  byKeyword: boolean;
  bySubreddit: boolean;
  /** At most this many keywords and communities have rows of their own: those with the most matches. */
  groups: number;
  /** At most this many rows are read: the newest. */
  rows: number;
  signal: AbortSignal;
}

export interface SeriesRow {
  /** Start of the interval in milliseconds since 1970. */
  at: number;
  /** null: all keywords, or all others. */
  keyword: string | null;
  /** null: all communities, or all others. */
  subreddit: string | null;
  count: number;
}

/**
 * After an outage, and from a dump, the items of many hours are seen in one. What was written long before it was
 * seen says nothing about that hour.
 */
const SEEN_IN_TIME = 'first_seen_at < created_utc + INTERVAL 1 HOUR';

const IN_RANGE = `created_at >= fromUnixTimestamp64Milli({from: Int64} - {skew: Int64}, 'UTC')
  AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
  AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')`;

const MATCHES = `(SELECT first_seen_at, subreddit, matched_terms FROM matches FINAL
         WHERE monitor_id = {monitor_id: String}
           AND created_at > now64(3) - INTERVAL 30 DAY AND ${IN_RANGE})`;

/**
 * Counts the matches of a monitor by the interval in which their item was first seen, newest intervals first, without
 * empty ones. With keywords, a match counts for each of its terms, and once for all those without rows of their own.
 */
export async function countMatchSeries(
  clickhouse: ClickHouseClient,
  { monitorId, from, to, interval, byKeyword, bySubreddit, groups, rows, signal }: SeriesQuery,
): Promise<SeriesRow[]> {
  // Neither terms nor names of communities are empty.
  const keywords = byKeyword
    ? `arrayJoin(arrayDistinct(arrayMap(term -> if(has((
         SELECT groupArray(top_term) FROM (
           SELECT arrayJoin(matched_terms) AS top_term FROM ${MATCHES}
            GROUP BY top_term ORDER BY count() DESC, top_term LIMIT {groups: UInt32})), term), term, ''), matched_terms)))`
    : `''`;
  const communities = bySubreddit
    ? `if(subreddit IN (SELECT subreddit FROM ${MATCHES} GROUP BY subreddit ORDER BY count() DESC, subreddit
         LIMIT {groups: UInt32}), toString(subreddit), '')`
    : `''`;
  const read = await selectRows<Omit<SeriesRow, 'subreddit'> & { community: string | null }>(
    clickhouse,
    `SELECT toUnixTimestamp(toStartOfInterval(first_seen_at, INTERVAL 1 ${interval === 'hour' ? 'HOUR' : 'DAY'}, 'UTC')) * 1000 AS at,
       nullIf(${keywords}, '') AS keyword, nullIf(${communities}, '') AS community, count() AS count
  FROM ${MATCHES}
 GROUP BY at, keyword, community
 ORDER BY at DESC, count DESC, keyword, community
 LIMIT {rows: UInt32}`,
    { monitor_id: monitorId, from, to, skew: SKEW_MS, groups, rows },
    { seconds: STATEMENT_SECONDS, signal },
  );
  return read.map(({ community, ...row }) => ({ ...row, subreddit: community }));
}

/**
 * Counts the matches of a monitor by the hour in which their item was first seen, by the start of the hour in
 * milliseconds since 1970; without those of backfills, and of items that were seen more than an hour after their
 * creation.
 *
 * @param from start of the first hour, `to` end of the last one, in milliseconds since 1970
 */
export async function countMatchesByHour(
  clickhouse: ClickHouseClient,
  { monitorId, from, to, signal }: Pick<SeriesQuery, 'monitorId' | 'from' | 'to' | 'signal'>,
): Promise<Map<number, number>> {
  const rows = await selectRows<{ hour: number; count: number }>(
    clickhouse,
    `SELECT toUnixTimestamp(toStartOfHour(first_seen_at)) * 1000 AS hour, count() AS count
  FROM matches FINAL
 WHERE monitor_id = {monitor_id: String} AND NOT backfill AND ${SEEN_IN_TIME}
   AND created_at > now64(3) - INTERVAL 30 DAY AND ${IN_RANGE}
 GROUP BY hour`,
    { monitor_id: monitorId, from, to, skew: SKEW_MS },
    { seconds: STATEMENT_SECONDS, signal },
  );
  return new Map(rows.map(({ hour, count }) => [hour, count]));
}

/**
 * Which of these monitors had at least `least` matches in an hour from `from` (the start of an hour) until `to`, both
 * in milliseconds since 1970; without those that `countMatchesByHour` leaves out.
 *
 * @param ids ids of monitors, as they are stored: letters, digits and underscores
 */
export async function listBusyMonitors(
  clickhouse: ClickHouseClient,
  ids: readonly string[],
  { from, to, least, signal }: { from: number; to: number; least: number; signal: AbortSignal },
): Promise<string[]> {
  // As a parameter the ids would be too long for the address of the request.
  const rows = await selectRows<{ monitor_id: string }>(
    clickhouse,
    `SELECT DISTINCT monitor_id FROM (
  SELECT monitor_id, toStartOfHour(first_seen_at) AS hour FROM matches FINAL
   WHERE monitor_id IN (${ids.map((id) => `'${id}'`).join(',')}) AND NOT backfill AND ${SEEN_IN_TIME} AND ${IN_RANGE}
   GROUP BY monitor_id, hour HAVING count() >= {least: UInt32}
) ORDER BY monitor_id`,
    { from, to, skew: SKEW_MS, least },
    { seconds: 15, signal },
  );
  return rows.map(({ monitor_id }) => monitor_id);
}
