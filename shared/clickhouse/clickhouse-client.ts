import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';

export type { ClickHouseClient };

/** A client of one ClickHouse database (the URL's path; none: the server's default). Answers and inserts are JSON. */
export function createClickhouse(url: string, name: string): ClickHouseClient {
  return createClient({
    url,
    application: name,
    request_timeout: 30_000,
    compression: { request: false, response: false },
    // Whoever calls logs the error, once, and not on the console.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // ISO 8601 timestamps, as the topics carry them.
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
    },
  });
}

const BUSY_CODES = new Set([
  '159', // TIMEOUT_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '236', // ABORTED: the server shuts down
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY
  '252', // TOO_MANY_PARTS: merges are behind
  '279', // ALL_CONNECTION_TRIES_FAILED
  '285', // TOO_FEW_LIVE_REPLICAS
  '319', // UNKNOWN_STATUS_OF_INSERT
  '745', // SERVER_OVERLOADED
  '999', // KEEPER_EXCEPTION
]);

/** True when ClickHouse is away, starting or too busy, so that the same statement may succeed later. */
export function isClickhouseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isClickhouseAway);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof ClickHouseError || /^\d+$/.test(code)) return BUSY_CODES.has(code);
  if (/^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND)$/.test(code)) return true;
  return /socket hang up|timeout error/i.test(error.message);
}
