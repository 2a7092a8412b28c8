import { TOPICS } from '../../schemas/messages/topics.ts';
import { migrateClickhouse } from '../../shared/clickhouse/migrate-clickhouse.ts';
import { ensureTopics, TopicsDiffer } from '../../shared/kafka/topic-admin.ts';
import { unavailableEngine } from '../../shared/runtime/outage-log.ts';
import { migratePostgres, MigrationUnderWay } from '../../shared/postgres/migrate-postgres.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { AdminError, examples, integer } from './command.ts';
import type { AddCommands, Installation } from './command.ts';

const DEFAULT_WAIT_S = 60;
const MAX_WAIT_S = 3_600;

/**
 * What each start of a service does to the engines, without starting one: a release runs it once before it replaces
 * processes. Repeating it, also at the same time, changes nothing.
 */
export const addCommands: AddCommands = (program, { lines }) => {
  program
    .command('migrate')
    .description('update the schemas of Postgres and ClickHouse and the topics, without starting a service')
    .option(
      '--wait <seconds>',
      'how long to wait for servers that do not respond',
      integer('--wait', MAX_WAIT_S, 0),
      DEFAULT_WAIT_S,
    )
    .addHelpText('after', examples('migrate', 'migrate --wait 300'))
    .action(lines(migrate));
};

async function* migrate(installation: Installation, { wait: waitS }: { wait: number }): AsyncIterable<object> {
  const { config, prefix, postgresUrl, pool, kafka, embedsKafka: embedded, clickhouse, logger } = installation;
  const { replication, partitions } = config.kafka;
  const deadline = performance.now() + waitS * 1_000;
  const signal = AbortSignal.timeout(waitS * 1_000);
  const waiting = async (
    what: string,
    work: () => Promise<void>,
    isRetryable = (error: unknown) => unavailableEngine(error) !== undefined,
  ) => {
    installation.report(`${what}: migrating`);
    await retry(work, {
      what: `migrating ${what}`,
      logger,
      minMs: 500,
      isRetryable(error) {
        const isTriedAgain = isRetryable(error) && performance.now() < deadline;
        if (isTriedAgain) installation.report(`${what}: not possible yet, retrying (${String(error)})`);
        return isTriedAgain;
      },
    });
    installation.report(`${what}: up to date`);
  };
  await waiting('Postgres', () => migrateDatabase(postgresUrl, logger, signal));
  yield { engine: 'postgres', status: 'up to date' };
  await waiting(
    'Kafka',
    () => ensureTopics(kafka, { prefix, embedded, topics: TOPICS, replication, partitions }),
    (error) => !(error instanceof TopicsDiffer),
  );
  yield { engine: 'kafka', status: 'up to date', topics: TOPICS.length };
  await waiting('ClickHouse', () => migrateClickhouse(clickhouse, pool, logger));
  yield { engine: 'clickhouse', status: 'up to date' };
}

async function migrateDatabase(postgresUrl: string, logger: Logger, signal: AbortSignal): Promise<void> {
  try {
    await migratePostgres(postgresUrl, logger, { signal });
  } catch (error) {
    throw error instanceof MigrationUnderWay ? new AdminError(`${error.message} Try again, or set --wait.`) : error;
  }
}
