import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';

/** A client that gives up does not end its statement. */
const STATEMENT_SECONDS = 4;
/** Only matches seen so long after their creation are looked up in `items`: is a dump file their source? */
const LIKELY_REPLAY_MS = 600_000;

export interface LatencyQuery {
  monitorId: string;
  /** Start of the first day in milliseconds since 1970. */
  from: number;
  signal: AbortSignal;
}

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

const QUANTILES = `count() AS count, quantileExact(0.5)(ms) AS p50, quantileExact(0.9)(ms) AS p90, quantileExact(0.99)(ms) AS p99`;

const MATCHES = `SELECT seq, thing_id, created_utc, first_seen_at, created_at FROM matches FINAL
       WHERE monitor_id = {monitor_id: String} AND NOT backfill
         AND created_at > now64(3) - INTERVAL 30 DAY
         AND created_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')`;

const ATTEMPTS = `SELECT seq, attempt, started_at, duration_ms, status, delivery_status FROM delivery_attempts FINAL
       WHERE monitor_id = {monitor_id: String}
         AND started_at > now64(3) - INTERVAL 30 DAY
         AND started_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')`;

const CREATED_TO_SEEN = 'toUnixTimestamp64Milli(first_seen_at) - toUnixTimestamp64Milli(created_utc)';

/** Each step of a match as a row of (day, step, ms). */
const STEPS = `
  SELECT toDate(created_at, 'UTC') AS day, 'created_to_seen' AS step, greatest(0, ${CREATED_TO_SEEN}) AS ms
    FROM (${MATCHES})
   WHERE ${CREATED_TO_SEEN} < {replay_ms: Int64} OR thing_id NOT IN (
         SELECT thing_id FROM items FINAL
          WHERE source = 'replay' AND thing_id IN (
                SELECT thing_id FROM (${MATCHES}) WHERE ${CREATED_TO_SEEN} >= {replay_ms: Int64}))
  UNION ALL
  SELECT toDate(created_at, 'UTC') AS day, 'seen_to_recorded' AS step,
         greatest(0, toUnixTimestamp64Milli(created_at) - toUnixTimestamp64Milli(first_seen_at)) AS ms
    FROM (${MATCHES})
  UNION ALL
  SELECT toDate(m.created_at, 'UTC') AS day, 'recorded_to_delivered' AS step,
         greatest(0, d.delivered_ms - toUnixTimestamp64Milli(m.created_at)) AS ms
    FROM (${MATCHES}) AS m
    JOIN (SELECT seq, min(toUnixTimestamp64Milli(started_at) + duration_ms) AS delivered_ms
            FROM (${ATTEMPTS}) WHERE delivery_status = 'delivered' GROUP BY seq) AS d ON d.seq = m.seq
  UNION ALL
  SELECT toDate(started_at, 'UTC') AS day, 'receiver' AS step, toInt64(duration_ms) AS ms
    FROM (${ATTEMPTS}) WHERE status > 0`;

/**
 * Measures how long the matches of a monitor took from their creation to the answer of its receiver, by the day on
 * which they were recorded; the receiver's answers by the day of their attempt. Without matches of backfills; the
 * first step without items of dump files.
 */
export async function measureLatency(
  clickhouse: ClickHouseClient,
  { monitorId, from, signal }: LatencyQuery,
): Promise<StepOfDay[]> {
  const result = await clickhouse.query({
    query: `SELECT toString(day) AS day, step, ${QUANTILES} FROM (${STEPS}) GROUP BY day, step`,
    query_params: { monitor_id: monitorId, from, replay_ms: LIKELY_REPLAY_MS },
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: STATEMENT_SECONDS },
    abort_signal: signal,
  });
  return result.json<StepOfDay>();
}
