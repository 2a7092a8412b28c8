import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient as PlainClient, ClickHouseSettings, QueryParams } from '@clickhouse/client';
import { errorMessage, markEngine } from '../runtime/errors.ts';

export type ClickHouseClient = Pick<PlainClient, 'query' | 'insert' | 'command' | 'exec' | 'ping' | 'close'>;

export interface ClickhouseOptions {
  /** PEM file of the authorities that certificates are checked with; undefined: those that Node.js trusts. */
  caFile?: string | undefined;
  /** How long a connection may stay silent; default: 30 s. */
  requestMs?: number;
}

/** Further statements wait. */
const MAX_CONNECTIONS = 10;
/** Shorter than the idle timeout of servers and load balancers, so that no connection is closed just before reuse. */
const IDLE_MS = 2_500;

export function createClickhouse(url: string, name: string, options: ClickhouseOptions = {}): ClickHouseClient {
  const { caFile, requestMs = 30_000 } = options;
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
      // What a server's profile may have otherwise. An insert that is answered and not yet stored could be lost, and a
      // removal would not find it; NULLs do not fit the views' columns; FINAL would show an item once for each day of
      // its sights; an answer that is cut off would look whole.
      wait_for_async_insert: 1,
      join_use_nulls: 0,
      do_not_merge_across_partitions_select_final: 0,
      timeout_overflow_mode: 'throw',
    },
  });
  return markedClient(client);
}

function createAgent(url: string, caFile: string | undefined): HttpAgent | HttpsAgent {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  if (new URL(url).protocol !== 'https:') return new HttpAgent(options);
  return new HttpsAgent({ ...options, ...(caFile !== undefined && { ca: readFileSync(caFile) }) });
}

/** Without the mark, a load balancer's page is a plain Error and a lost connection could belong to any engine. */
function markedClient(client: PlainClient): ClickHouseClient {
  const query = async (params: QueryParams) => {
    const answer = await marked(client.query(params));
    const read = answer.json.bind(answer);
    answer.json = (() => readWhole(answer, read, params.abort_signal)) as typeof answer.json;
    return answer;
  };
  return {
    query,
    insert: (params) => marked(client.insert(params)),
    command: (params) => marked(client.command(params)),
    exec: (params) => marked(client.exec(params)),
    ping: (params) => marked(client.ping(params)),
    close: () => client.close(),
  };
}

async function marked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw markEngine(error, 'clickhouse');
  }
}

/**
 * Makes `json` of an answer fail as its query does: at once when the signal of the query aborts, and as an outage of
 * ClickHouse when the answer is broken off. By itself, the client ignores the signal once the first bytes are there,
 * and reads the text of an error that follows the first rows as another row.
 */
async function readWhole(
  answer: { close(): void },
  read: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => {
    aborted.reject(new Error('gave up on a response from ClickHouse', { cause: signal?.reason }));
    answer.close();
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([read(), aborted.promise]);
  } catch (error) {
    // Every row that ClickHouse writes is JSON.
    const isText = error instanceof SyntaxError;
    const fault = isText ? new Error(`ClickHouse broke off a response: ${errorMessage(error)}`) : error;
    throw markEngine(fault, 'clickhouse');
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** A server ends a statement with its client only when the statement may not write. */
const ENDS_WITH_CLIENT = { readonly: '2', cancel_http_readonly_queries_on_client_close: 1 } as const;

export interface SelectOptions {
  /**
   * The server ends the statement then, or as soon as its client disconnects, as an aborted signal does. The embedded
   * engine cannot see that a client gave up.
   */
  seconds?: number;
  signal?: AbortSignal | undefined;
  settings?: ClickHouseSettings;
}

export async function selectRows<Row>(
  clickhouse: ClickHouseClient,
  query: string,
  params: Record<string, unknown> = {},
  { seconds, signal, settings }: SelectOptions = {},
): Promise<Row[]> {
  const limits = seconds !== undefined && { ...ENDS_WITH_CLIENT, max_execution_time: seconds };
  const result = await clickhouse.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    clickhouse_settings: { ...limits, ...settings },
    ...(signal && { abort_signal: signal }),
  });
  return result.json<Row>();
}
