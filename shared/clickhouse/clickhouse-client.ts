import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';
import { markEngine } from '../outages/engine.ts';
import { withWholeJson } from './whole-answer.ts';

export type { ClickHouseClient };

/**
 * A client of one ClickHouse database: the path of the URL, or the server's default. Answers and inserts are JSON.
 *
 * @param requestMs how long a connection may stay silent
 */
export function createClickhouse(
  url: string,
  name: string,
  { requestMs = 30_000 }: { requestMs?: number } = {},
): ClickHouseClient {
  const client = createClient({
    url,
    application: name,
    request_timeout: requestMs,
    // Shorter than the idle timeout of servers and load balancers, so that no connection is closed just before reuse.
    keep_alive: { enabled: true, idle_socket_ttl: 2_500, eagerly_destroy_stale_sockets: true },
    compression: { request: false, response: false },
    // The caller logs the error, once.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // ISO 8601 timestamps, as in the topics.
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
    },
  });
  return marked(client);
}

/**
 * Marks every error of its calls as one of ClickHouse. Without the mark, a load balancer's page is a plain Error and a
 * lost connection could belong to any engine.
 */
function marked(client: ClickHouseClient): ClickHouseClient {
  const mark = (error: unknown): never => {
    throw markEngine(error, 'clickhouse');
  };
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args);
        if (!(result instanceof Promise)) return result;
        const { abort_signal: signal } = (args[0] ?? {}) as { abort_signal?: AbortSignal };
        return result.then((answer: unknown) => withWholeJson(answer, signal)).catch(mark);
      };
    },
  });
}
