import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

/** Items of a source and kind that were first seen in an hour, by the bucket of their lag. */
export interface ArchivedGroup {
  source: string;
  kind: 'post' | 'comment';
  /** The lag's bucket: the lag in seconds is at most `gamma` to the power of it. */
  bucket: number;
  items: number;
  late: number;
  /** Created before the service first ran: the lag says nothing about it, and none of them is late. */
  isBacklog: boolean;
}

export interface HourCount {
  /** Its start in milliseconds since 1970. */
  hour: number;
  count: number;
}

const HOUR_MS = 3_600_000;
/** An item that is seen again within this time, by any source, counts once: in the hour of its first sight. */
const REPEATED_WITHIN_MS = HOUR_MS;

/** Counts the rows of each hour since `from` (milliseconds since 1970), repeated ones included. */
export async function countArchivedRows(clickhouse: ClickHouseClient, from: number): Promise<HourCount[]> {
  return selectRows<HourCount>(
    clickhouse,
    `SELECT toUnixTimestamp(toStartOfHour(first_seen_at)) * 1000 AS hour, count() AS count
  FROM item_sightings
 WHERE first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
 GROUP BY hour`,
    { from },
  );
}

/** Counts the posts by the hour of their creation since `from`, each once; without those of dump files. */
export async function countPostsByCreation(clickhouse: ClickHouseClient, from: number): Promise<HourCount[]> {
  return selectRows<HourCount>(
    clickhouse,
    `SELECT toUnixTimestamp(toStartOfHour(created_utc)) * 1000 AS hour, uniqExact(thing_id) AS count
  FROM item_sightings
 WHERE kind = 'post' AND source != 'replay'
   AND created_utc >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
   AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
 GROUP BY hour`,
    { from },
  );
}

/**
 * Counts the items that were first seen in the hour from `hour` (milliseconds since 1970), each once.
 *
 * @param lags.gamma the ratio of a bucket's upper bound to its lower one
 * @param lags.shortest shorter lags count as this many seconds
 * @param lags.lateAfterMs items with a longer lag are late; those of dump files never are
 * @param lags.startedAt when the service first ran; undefined: long before the hour
 */
export async function measureArchivedHour(
  clickhouse: ClickHouseClient,
  hour: number,
  lags: { gamma: number; shortest: number; lateAfterMs: number; startedAt: number | undefined },
): Promise<ArchivedGroup[]> {
  // One thread: an hour of a busy forum takes a second, and the other cores are for what must not wait.
  const groups = await selectRows<Omit<ArchivedGroup, 'isBacklog'> & { is_backlog: number }>(
    clickhouse,
    `SELECT first_source AS source, first_kind AS kind, count() AS items,
       toInt32(ceil(log(greatest(lag_ms / 1000, {shortest: Float64})) / log({gamma: Float64}))) AS bucket,
       created_ms < {started: Int64} AS is_backlog,
       countIf(lag_ms > {late_after: Int64} AND first_source != 'replay' AND NOT is_backlog) AS late
  FROM (
    SELECT thing_id, min(first_seen_at) AS seen_at, argMin(source, first_seen_at) AS first_source, any(kind) AS first_kind,
           toUnixTimestamp64Milli(any(created_utc)) AS created_ms,
           toUnixTimestamp64Milli(seen_at) - created_ms AS lag_ms
      FROM item_sightings
     WHERE first_seen_at >= fromUnixTimestamp64Milli({begin: Int64}, 'UTC')
       AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
     GROUP BY thing_id
    HAVING seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
  )
 GROUP BY source, kind, bucket, is_backlog`,
    {
      begin: hour - REPEATED_WITHIN_MS,
      from: hour,
      to: hour + HOUR_MS,
      gamma: lags.gamma,
      shortest: lags.shortest,
      late_after: lags.lateAfterMs,
      started: lags.startedAt ?? 0,
    },
    { settings: { max_threads: 1 } },
  );
  return groups.map(({ is_backlog, ...group }) => ({ ...group, isBacklog: is_backlog === 1 }));
}

/** When the first item of the last four days was seen, in milliseconds since 1970; undefined without any. */
export async function firstSightAt(clickhouse: ClickHouseClient): Promise<number | undefined> {
  // The table is ordered by this time: only its beginning is read.
  const [first] = await selectRows<{ at: number }>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli(first_seen_at) AS at
  FROM item_sightings WHERE source != 'replay' ORDER BY first_seen_at LIMIT 1`,
  );
  return first?.at;
}

/**
 * When the newest archived item was first seen, in milliseconds since 1970; undefined when the last day has none.
 * Without those of dump files: their replay does not tell that the crawl of the forum works.
 */
export async function newestArchivedAt(
  clickhouse: ClickHouseClient,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const [newest] = await selectRows<{ at: number }>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli(first_seen_at) AS at
  FROM item_sightings
 WHERE first_seen_at > now64(3) - INTERVAL 1 DAY AND source != 'replay'
 ORDER BY first_seen_at DESC LIMIT 1`,
    {},
    { signal },
  );
  return newest?.at;
}
