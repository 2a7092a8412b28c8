import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';
import { markEngine } from '../outages/engine.ts';
import { insertOnce, onCluster } from './clickhouse-cluster.ts';
import { withWholeJson } from './whole-answer.ts';

export type { ClickHouseClient };

/** How the servers of CLICKHOUSE_URL are reached and defined. */
export interface ClickhouseServers {
  /** PEM file of the authorities that their certificates are checked with; undefined: those that Node.js trusts. */
  caFile: string | undefined;
  /** The cluster whose replicas they are; undefined: one server. */
  cluster: string | undefined;
}

export interface ClickhouseOptions extends Partial<ClickhouseServers> {
  /** How long a connection may stay silent; default: 30 s. */
  requestMs?: number;
}

/** Further statements wait. */
const MAX_CONNECTIONS = 10;
/** Shorter than the idle timeout of servers and load balancers, so that no connection is closed just before reuse. */
const IDLE_MS = 2_500;

/**
 * A client of one ClickHouse database: the path of the URL, or the server's default. Answers and inserts are JSON. With
 * a cluster, what it defines is defined on each replica, and what it inserts again is stored once.
 */
export function createClickhouse(url: string, name: string, options: ClickhouseOptions = {}): ClickHouseClient {
  const { caFile, cluster, requestMs = 30_000 } = options;
  const client = createClient({
    url,
    application: name,
    request_timeout: requestMs,
    http_agent: createAgent(url, caFile),
    // The agent closes idle connections. The client's own timer of a connection could stay behind when a statement was
    // given up before it was sent, and then closed the connection under another one.
    keep_alive: { enabled: true, idle_socket_ttl: 0 },
    compression: { request: false, response: false },
    // The caller logs the error, once.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // ISO 8601 timestamps, as in the topics.
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
    },
  });
  return marked(client, cluster);
}

function createAgent(url: string, caFile: string | undefined): HttpAgent | HttpsAgent {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  if (new URL(url).protocol !== 'https:') return new HttpAgent(options);
  return new HttpsAgent({ ...options, ...(caFile !== undefined && { ca: readFileSync(caFile) }) });
}

/**
 * Marks every error of its calls as one of ClickHouse. Without the mark, a load balancer's page is a plain Error and a
 * lost connection could belong to any engine.
 */
function marked(client: ClickHouseClient, cluster: string | undefined): ClickHouseClient {
  const mark = (error: unknown): never => {
    throw markEngine(error, 'clickhouse');
  };
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (cluster !== undefined) args[0] = forCluster(property, args[0], cluster);
        const result: unknown = Reflect.apply(value, target, args);
        if (!(result instanceof Promise)) return result;
        const { abort_signal: signal } = (args[0] ?? {}) as { abort_signal?: AbortSignal };
        return result.then((answer: unknown) => withWholeJson(answer, signal)).catch(mark);
      };
    },
  });
}

/** The argument of a call to the client, as a cluster needs it. */
function forCluster(method: string | symbol, argument: unknown, cluster: string): unknown {
  if (method === 'command') {
    const command = argument as { query: string; clickhouse_settings?: object };
    const query = onCluster(command.query, cluster);
    // A replica that is away executes it later; without the setting the statement would wait for it.
    const settings = { ...command.clickhouse_settings, distributed_ddl_output_mode: 'none_only_active' };
    return query === command.query ? command : { ...command, query, clickhouse_settings: settings };
  }
  if (method !== 'insert') return argument;
  const insert = argument as { values: unknown; clickhouse_settings?: object };
  return { ...insert, clickhouse_settings: { ...insert.clickhouse_settings, ...insertOnce(insert.values) } };
}
