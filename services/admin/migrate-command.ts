import { TOPICS } from '../../schemas/messages/topics.ts';
import { createClickhouse } from '../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../shared/clickhouse/migrate-clickhouse.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import { ensureTopics, TopicsDiffer } from '../../shared/kafka/topics/topic-admin.ts';
import { awayEngine } from '../../shared/outages/away-engine.ts';
import { migratePostgres, MigrationUnderWay } from '../../shared/postgres/migrate-postgres.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { AdminError } from './command.ts';
import type { EnginesCommand, Report } from './command.ts';
import { embedsKafka, findBrokers, findClickhouse, findPostgres } from './find-engines.ts';

const DEFAULT_WAIT_S = 60;
const MAX_WAIT_S = 3_600;

/** How long a server that is away is waited for. */
type Waiting = (what: string, work: () => Promise<void>, isRetryable?: (error: unknown) => boolean) => Promise<void>;

/**
 * What each start of a service does to the engines, without starting one: a release runs it once before it replaces
 * processes. Repeating it, also at the same time, changes nothing.
 */
const MIGRATE: EnginesCommand = {
  name: 'migrate',
  summary: 'bring the schemas of Postgres and ClickHouse and the topics up to date, without starting a service',
  optionsHelp: [`--wait SECONDS         how long to wait for servers that do not answer, default ${DEFAULT_WAIT_S}`],
  examples: ['migrate', 'migrate --wait 300'],
  options: { wait: { type: 'string' } },
  prepare(values) {
    const waitS = waitOption(values.wait);
    return (config, report) => Promise.resolve(migrate(config, report, waitS));
  },
};

async function* migrate(config: Config, report: Report, waitS: number): AsyncIterable<object> {
  const postgresUrl = findPostgres(config);
  const clickhouseUrl = findClickhouse(config);
  const brokers = findBrokers(config);
  const waiting = waitUntil(performance.now() + waitS * 1_000, report);
  const signal = AbortSignal.timeout(waitS * 1_000);
  await waiting('Postgres', () => migrateDatabase(postgresUrl, signal));
  yield { engine: 'postgres', status: 'up to date' };
  await waiting(
    'Kafka',
    () => createTopics(config, brokers),
    (error) => !(error instanceof TopicsDiffer),
  );
  yield { engine: 'kafka', status: 'up to date', topics: TOPICS.length };
  await waiting('ClickHouse', () => migrateArchive(config, postgresUrl, clickhouseUrl));
  yield { engine: 'clickhouse', status: 'up to date' };
}

function waitUntil(deadline: number, report: Report): Waiting {
  return async (what, work, isRetryable = (error) => awayEngine(error) !== undefined) => {
    report(`${what}: migrating`);
    await retry(work, {
      what: `migrating ${what}`,
      logger: createLogger('silent'),
      minMs: 500,
      isRetryable(error) {
        const isTriedAgain = isRetryable(error) && performance.now() < deadline;
        if (isTriedAgain) report(`${what}: not possible yet, trying again (${String(error)})`);
        return isTriedAgain;
      },
    });
    report(`${what}: up to date`);
  };
}

async function migrateDatabase(postgresUrl: string, signal: AbortSignal): Promise<void> {
  try {
    await migratePostgres(postgresUrl, createLogger('silent'), { signal });
  } catch (error) {
    throw error instanceof MigrationUnderWay ? new AdminError(`${error.message} Try again, or set --wait.`) : error;
  }
}

async function createTopics(config: Config, brokers: readonly string[]): Promise<void> {
  const { security, topicPrefix: prefix, replication, partitions } = config.kafka;
  const kafka = createKafka({ brokers, security, clientId: 'admin', logger: createLogger('silent') });
  await ensureTopics(kafka, { prefix, embedded: embedsKafka(config), topics: TOPICS, replication, partitions });
}

async function migrateArchive(config: Config, postgresUrl: string, clickhouseUrl: string): Promise<void> {
  const logger = createLogger('silent');
  const pool = createPool({ url: postgresUrl, name: 'admin', logger, max: 1 });
  const clickhouse = createClickhouse(clickhouseUrl, 'forum-monitor admin', config.clickhouse);
  try {
    await migrateClickhouse(clickhouse, pool, logger);
  } finally {
    await clickhouse.close();
    await pool.end();
  }
}

/** @throws AdminError */
function waitOption(text: string | undefined): number {
  if (text === undefined) return DEFAULT_WAIT_S;
  const seconds = Number(text);
  if (/^\d{1,4}$/.test(text) && seconds <= MAX_WAIT_S) return seconds;
  throw new AdminError(`--wait: must be a number of seconds from 0 to ${MAX_WAIT_S}, not ${text}.`);
}

export const COMMANDS = [MIGRATE];
