import { createClickhouse } from '../../shared/clickhouse/clickhouse-client.ts';
import type { ClickhouseOptions } from '../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import { isKafkaUnavailable } from '../../shared/kafka/kafka-unavailable.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { sqlState } from '../../shared/postgres/postgres-unavailable.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { certificateFault, errorCode, errorMessage } from '../../shared/runtime/errors.ts';
import { withDeadline } from '../../shared/runtime/lifecycle.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { StartFault } from './engines/engine.ts';

/** How long a server may take to answer; a start does not wait for it. */
const ANSWER_MS = 3_000;

const POSTGRES_REFUSALS: Record<string, string> = {
  '28000': 'Postgres refuses the user',
  '28P01': 'Postgres refuses the user or the password',
  '3D000': 'Postgres has no database of this name',
  '42501': 'the user may not connect to the database',
};

const CLICKHOUSE_REFUSALS = new Set(['192', '193', '194', '516']);

interface Check {
  variable: string;
  connect: () => Promise<unknown>;
  /** What is wrong with the setting, when the server says so; undefined: the server is unavailable. */
  refusal: (error: unknown) => string | undefined;
}

/**
 * Asks each named server. One that does not answer is only reported: the services wait for it.
 *
 * @throws StartFault when a server refuses user, password or database
 */
export async function checkServers(config: Config, warn: (line: string) => void): Promise<void> {
  const outcomes = await Promise.all(checksOf(config).map(runCheck));
  const refused = outcomes.flatMap(({ variable, refusal }) =>
    refusal === undefined ? [] : [`${variable}: ${refusal}.`],
  );
  if (refused.length > 0) throw new StartFault(refused.join('\n'));
  for (const { variable, silence } of outcomes) {
    if (silence !== undefined) warn(`${variable}: the server does not answer (${silence}); the services wait for it`);
  }
}

function checksOf({ kafka, postgresUrl, clickhouseUrl, clickhouse }: Config): Check[] {
  const checks: Check[] = [];
  const { brokers, security } = kafka;
  if (postgresUrl !== undefined) {
    const connect = () => askPostgres(postgresUrl);
    checks.push({ variable: 'DATABASE_URL', connect, refusal: postgresRefusal });
  }
  if (clickhouseUrl !== undefined) {
    const connect = () => askClickhouse(clickhouseUrl, clickhouse);
    checks.push({ variable: 'CLICKHOUSE_URL', connect, refusal: clickhouseRefusal });
  }
  if (brokers !== undefined) {
    const connect = () => createKafka({ brokers, security, clientId: 'start', logger: createLogger('silent') }).ping();
    checks.push({ variable: 'KAFKA_BROKERS', connect, refusal: kafkaRefusal });
  }
  return checks;
}

async function runCheck({
  variable,
  connect,
  refusal,
}: Check): Promise<{ variable: string; refusal?: string; silence?: string }> {
  try {
    await withDeadline(connect(), ANSWER_MS, `no answer within ${ANSWER_MS / 1_000} s`);
    return { variable };
  } catch (error) {
    const why = tlsRefusal(error) ?? refusal(error);
    return why === undefined
      ? { variable, silence: errorCode(error) ?? errorMessage(error) }
      : { variable, refusal: why };
  }
}

/** What is wrong with the encryption, in every client's words for it. */
function tlsRefusal(error: unknown): string | undefined {
  const code = certificateFault(error);
  if (code !== undefined) return `the server's certificate is refused (${code}): check its authority, names and dates`;
  return errorMessage(error).includes('does not support SSL') ? 'the server does not encrypt' : undefined;
}

function postgresRefusal(error: unknown): string | undefined {
  // Files that the URL names: sslrootcert, sslcert, sslkey.
  if (error instanceof Error && 'syscall' in error && error.syscall === 'open')
    return `a file that it names cannot be read (${errorMessage(error)})`;
  return POSTGRES_REFUSALS[sqlState(error) ?? ''];
}

async function askPostgres(url: string): Promise<void> {
  const pool = createPool({ url, name: 'forum-monitor start', logger: createLogger('silent'), max: 1 });
  try {
    await pool.query('SELECT 1');
  } finally {
    await pool.end();
  }
}

async function askClickhouse(url: string, options: ClickhouseOptions): Promise<void> {
  const client = createClickhouse(url, 'forum-monitor start', options);
  try {
    await client.command({ query: 'SELECT 1' });
  } finally {
    await client.close();
  }
}

function clickhouseRefusal(error: unknown): string | undefined {
  return CLICKHOUSE_REFUSALS.has(errorCode(error) ?? '') ? 'ClickHouse refuses the user or the password' : undefined;
}

function kafkaRefusal(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (/SASL/i.test(`${e.name} ${e.message}`)) {
      return isKafkaUnavailable(error) ? undefined : 'Kafka refuses the user or the password';
    }
  }
  return undefined;
}
