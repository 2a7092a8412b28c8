import { ClickHouseError, createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';

export type { ClickHouseClient };

/** A client of one ClickHouse database (the URL's path; none: the server's default). Answers and inserts are JSON. */
export function createClickhouse(url: string, name: string): ClickHouseClient {
  return createClient({
    url,
    application: name,
    request_timeout: 30_000,
    compression: { request: false, response: false },
    clickhouse_settings: {
      // ISO 8601 timestamps, as the topics carry them.
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
    },
  });
}

// NETWORK_ERROR, SOCKET_TIMEOUT, TIMEOUT_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, TABLE_IS_READ_ONLY, MEMORY_LIMIT_EXCEEDED
const BUSY_CODES = new Set(['210', '209', '159', '202', '242', '241']);

/** True when ClickHouse is away, starting or too busy, so that the same statement may succeed later. */
export function isClickhouseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isClickhouseAway);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof ClickHouseError || /^\d+$/.test(code)) return BUSY_CODES.has(code);
  if (/^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND)$/.test(code)) return true;
  return /socket hang up|timeout error/i.test(error.message);
}
