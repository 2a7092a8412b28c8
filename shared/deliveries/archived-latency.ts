import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

const STATEMENT_SECONDS = 4;
/** Only matches seen this long after their creation are looked up in `items`: is a dump file their source? */
const LIKELY_REPLAY_MS = 600_000;
/** An item is recorded at most this long after it was first seen, because older ones match nothing. */
const OLDEST_ITEM_DAYS = 7;

/** How long a step took on a day: the quantiles of `count` measurements, in milliseconds. */
export interface StepOfDay {
  /** UTC date. */
  day: string;
  step: 'created_to_seen' | 'seen_to_recorded' | 'recorded_to_delivered' | 'receiver';
  count: number;
  p50: number;
  p90: number;
  p99: number;
}

const MATCHES = `matches FINAL
       WHERE monitor_id = {monitor_id: String} AND NOT backfill
         AND created_at > now64(3) - INTERVAL 30 DAY
         AND created_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')`;

const OF_ATTEMPTS = `monitor_id = {monitor_id: String}
         AND started_at > now64(3) - INTERVAL 30 DAY
         AND started_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')`;

const CREATED_TO_SEEN = 'toUnixTimestamp64Milli(first_seen_at) - toUnixTimestamp64Milli(created_utc)';

/** Items are read without FINAL, which would read all of them: a removal has the source of its item. */
const SEEN_LATE_IN_DUMPS = `
    SELECT thing_id FROM items
     WHERE source = 'replay'
       AND first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC') - INTERVAL ${OLDEST_ITEM_DAYS} DAY
       AND thing_id IN (SELECT thing_id FROM ${MATCHES} AND ${CREATED_TO_SEEN} >= {replay_ms: Int64})`;

/** Rows of (day, step, ms). The matches are read once for both steps up to their record. */
const UNTIL_RECORDED = `
  SELECT day, measured.1 AS step, measured.2 AS ms FROM (
    SELECT toDate(created_at, 'UTC') AS day, ${CREATED_TO_SEEN} AS lag,
           toUnixTimestamp64Milli(created_at) - toUnixTimestamp64Milli(first_seen_at) AS recorded,
           arrayJoin(if(lag < {replay_ms: Int64} OR thing_id NOT IN (${SEEN_LATE_IN_DUMPS}),
             [('created_to_seen', greatest(0, lag)), ('seen_to_recorded', greatest(0, recorded))],
             [('seen_to_recorded', greatest(0, recorded))])) AS measured
      FROM ${MATCHES})`;

/** A repeated row of an attempt changes no minimum. */
const UNTIL_DELIVERED = `
  SELECT toDate(m.created_at, 'UTC') AS day, 'recorded_to_delivered' AS step,
         greatest(0, d.delivered_ms - toUnixTimestamp64Milli(m.created_at)) AS ms
    FROM (SELECT seq, created_at FROM ${MATCHES}) AS m
    JOIN (SELECT seq, min(toUnixTimestamp64Milli(started_at) + duration_ms) AS delivered_ms
            FROM delivery_attempts WHERE ${OF_ATTEMPTS} AND delivery_status = 'delivered' GROUP BY seq) AS d
      ON d.seq = m.seq`;

const OF_RECEIVER = `
  SELECT toDate(started_at, 'UTC') AS day, 'receiver' AS step, toInt64(duration_ms) AS ms
    FROM delivery_attempts FINAL WHERE ${OF_ATTEMPTS} AND status > 0`;

/** One state for all three quantiles, which are exact. */
const MEASURED = 'toString(day) AS day, step, count() AS count, quantilesExact(0.5, 0.9, 0.99)(ms) AS quantiles';

const QUERY = `SELECT ${MEASURED} FROM (${UNTIL_RECORDED}) GROUP BY day, step
  UNION ALL SELECT ${MEASURED} FROM (${UNTIL_DELIVERED}) GROUP BY day, step
  UNION ALL SELECT ${MEASURED} FROM (${OF_RECEIVER}) GROUP BY day, step`;

/**
 * Measures how long the matches of a monitor took from their creation to the answer of its receiver, by the day on
 * which they were recorded; the receiver's answers by the day of their attempt. Without matches of backfills; the
 * first step without items of dump files.
 *
 * @param query.from start of the first day in milliseconds since 1970
 */
export async function measureLatency(
  clickhouse: ClickHouseClient,
  { monitorId, from, signal }: { monitorId: string; from: number; signal: AbortSignal },
): Promise<StepOfDay[]> {
  type Row = Pick<StepOfDay, 'day' | 'step' | 'count'> & { quantiles: [number, number, number] };
  const rows = await selectRows<Row>(
    clickhouse,
    QUERY,
    { monitor_id: monitorId, from, replay_ms: LIKELY_REPLAY_MS },
    { seconds: STATEMENT_SECONDS, signal },
  );
  return rows.map(({ quantiles: [p50, p90, p99], ...row }) => ({ ...row, p50, p90, p99 }));
}
