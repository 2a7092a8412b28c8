import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import type { EnginesCommand, Report } from '../command.ts';
import { findBrokers, findClickhouse, findPostgres } from '../find-engines.ts';
import { rebuildAttempts, rebuildItems, rebuildMatches } from './rebuild-archive.ts';

export const ARCHIVE_REBUILD: EnginesCommand = {
  name: 'archive rebuild',
  summary: 'fill ClickHouse again, after its loss, with what Kafka and Postgres hold; services may run',
  optionsHelp: [],
  examples: ['archive rebuild'],
  options: {},
  prepare: () => (config, report) => Promise.resolve(rebuild(config, report)),
};

/** Each step is harmless to repeat, so an interrupted rebuild is run again. */
async function* rebuild(config: Config, report: Report): AsyncIterable<object> {
  const logger = createLogger('silent');
  const { security, topicPrefix: prefix } = config.kafka;
  const kafka = createKafka({ brokers: findBrokers(config), security, clientId: 'admin', logger });
  const clickhouse = createClickhouse(findClickhouse(config), 'forum-monitor admin', config.clickhouse);
  const pool = createPool({ url: findPostgres(config), name: 'admin', logger, max: 1 });
  const deps = { kafka, prefix, pool, clickhouse };
  try {
    report('reading posts and comments from Kafka');
    yield { from: 'kafka', items: await rebuildItems(deps) };
    report('reading matches and what they matched from Postgres');
    yield { from: 'postgres', ...(await rebuildMatches(deps)) };
    report('reading delivery attempts from Postgres');
    yield { from: 'postgres', attempts: await rebuildAttempts(deps) };
  } finally {
    await clickhouse.close();
    await pool.end();
  }
}
