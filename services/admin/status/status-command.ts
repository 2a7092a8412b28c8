import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool, REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import type { EnginesCommand } from '../command.ts';
import { findBrokers, findClickhouse, findPostgres } from '../find-engines.ts';
import { measureClickhouse, measureKafka, measurePostgres } from './measure-status.ts';
import { statusRows } from './status-rows.ts';
import type { Found, StatusRow } from './status-rows.ts';

/** Longer than the retries of a client whose server is away. */
const MEASURE_MS = 15_000;

export const STATUS: EnginesCommand = {
  name: 'status',
  summary: 'print a page about everything: servers, lags, what is due, gaps, dead letters; a server may be away',
  optionsHelp: [],
  examples: ['status', 'status --json'],
  isList: true,
  options: {},
  prepare: () => (config) => pageOf(config),
};

async function pageOf(config: Config): Promise<StatusRow[]> {
  const logger = createLogger('silent');
  const { security, topicPrefix } = config.kafka;
  const [postgresUrl, brokers, clickhouseUrl] = [findPostgres(config), findBrokers(config), findClickhouse(config)];
  const pool = createPool({ url: postgresUrl, name: 'admin', logger, max: 1, limits: REQUEST_LIMITS });
  const kafka = createKafka({ brokers, security, clientId: 'admin', logger });
  const clickhouse = createClickhouse(clickhouseUrl, 'forum-monitor admin', config.clickhouse);
  try {
    const [inPostgres, inKafka, inClickhouse] = await Promise.all([
      found(measurePostgres(pool)),
      found(measureKafka(kafka, topicPrefix, config.matcher.shards)),
      found(measureClickhouse(clickhouse)),
    ]);
    return statusRows({ postgres: inPostgres, kafka: inKafka, clickhouse: inClickhouse });
  } finally {
    await Promise.all([clickhouse.close(), pool.end()]);
  }
}

async function found<State>(measuring: Promise<State>): Promise<Found<State>> {
  try {
    return { state: await withDeadline(measuring, MEASURE_MS, 'no answer in time') };
  } catch (error) {
    return { away: errorMessage(error) || 'no connection' };
  }
}
