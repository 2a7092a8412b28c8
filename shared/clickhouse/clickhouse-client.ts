import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type {
  ClickHouseClient as PlainClient,
  ClickHouseSettings,
  CommandParams,
  QueryParams,
} from '@clickhouse/client';
import { errorMessage, markEngine } from '../runtime/errors.ts';

export type ClickHouseClient = Pick<PlainClient, 'query' | 'insert' | 'command' | 'exec' | 'ping' | 'close'>;

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

/** With a cluster, what the client defines is defined on each replica, and what it inserts again is stored once. */
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
  return markedClient(client, cluster);
}

function createAgent(url: string, caFile: string | undefined): HttpAgent | HttpsAgent {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  if (new URL(url).protocol !== 'https:') return new HttpAgent(options);
  return new HttpsAgent({ ...options, ...(caFile !== undefined && { ca: readFileSync(caFile) }) });
}

/** Without the mark, a load balancer's page is a plain Error and a lost connection could belong to any engine. */
function markedClient(client: PlainClient, cluster: string | undefined): ClickHouseClient {
  const query = async (params: QueryParams) => {
    const answer = await marked(client.query(params));
    const read = answer.json.bind(answer);
    answer.json = (() => readWhole(answer, read, params.abort_signal)) as typeof answer.json;
    return answer;
  };
  const insert: PlainClient['insert'] = (params) => {
    if (cluster === undefined) return marked(client.insert(params));
    const settings = { ...params.clickhouse_settings, ...insertOnce(params.values) };
    return marked(client.insert({ ...params, clickhouse_settings: settings }));
  };
  return {
    query,
    insert,
    command(params: CommandParams) {
      const statement = cluster === undefined ? params.query : onCluster(params.query, cluster);
      if (statement === params.query) return marked(client.command(params));
      // A replica that is unavailable executes it later; without the setting the statement would wait for it.
      const settings = { ...params.clickhouse_settings, distributed_ddl_output_mode: 'none_only_active' };
      return marked(
        client.command({ ...params, query: statement, clickhouse_settings: settings as ClickHouseSettings }),
      );
    },
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

/** Statements that define something, with the name that `ON CLUSTER` follows. Mutations replicate by themselves. */
const DEFINITION =
  /^((?:CREATE (?:TABLE|DATABASE|MATERIALIZED VIEW) IF NOT EXISTS|CREATE OR REPLACE VIEW|ALTER TABLE) \w+\b)(?! DELETE\b)/;
const ENGINE = /\bENGINE = (?=(?:Replacing)?MergeTree\b)/;

/**
 * A statement of ours as a cluster of one shard needs it: executed on each replica, tables replicated, at the path that
 * the servers' settings give by default. Other statements stay as they are.
 *
 * @param cluster its name in the servers' settings, or `{cluster}` for their macro
 */
export function onCluster(statement: string, cluster: string): string {
  const onEach = statement.replace(DEFINITION, (definition) => `${definition} ON CLUSTER '${cluster}'`);
  return onEach === statement ? statement : onEach.replace(ENGINE, 'ENGINE = Replicated');
}

/**
 * Settings of an insert that may reach another replica when it is repeated: the same rows are stored once, also in the
 * tables that materialized views fill.
 */
export function insertOnce(values: unknown): Record<string, string | number> {
  const token = createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return { insert_deduplication_token: token, deduplicate_blocks_in_dependent_materialized_views: 1 };
}
