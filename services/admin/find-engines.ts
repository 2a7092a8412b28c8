import { brokersOf, readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { AdminError } from './command.ts';

/**
 * The URL of the installation's Postgres: DATABASE_URL, else the one that the running service wrote into its data
 * directory.
 *
 * @throws AdminError when there is neither
 */
export function findPostgres({ postgresUrl, dataDir }: Pick<Config, 'postgresUrl' | 'dataDir'>): string {
  const url = postgresUrl ?? readEndpoints(dataDir)?.postgres;
  if (url === undefined) throw notFound('DATABASE_URL', dataDir);
  return url;
}

/**
 * The installation's brokers, each host:port or user:password@host:port: KAFKA_BROKERS, else the ones that the running
 * service wrote into its data directory.
 *
 * @throws AdminError when there are neither
 */
export function findBrokers({ kafka, dataDir }: Pick<Config, 'kafka' | 'dataDir'>): readonly string[] {
  if (kafka.brokers !== undefined) return kafka.brokers;
  const url = readEndpoints(dataDir)?.kafka;
  if (url === undefined) throw notFound('KAFKA_BROKERS', dataDir);
  return brokersOf(url).split(',');
}

/**
 * The URL of the installation's ClickHouse: CLICKHOUSE_URL, else the one that the running service wrote into its data
 * directory.
 *
 * @throws AdminError when there is neither
 */
export function findClickhouse({ clickhouseUrl, dataDir }: Pick<Config, 'clickhouseUrl' | 'dataDir'>): string {
  const url = clickhouseUrl ?? readEndpoints(dataDir)?.clickhouse;
  if (url === undefined) throw notFound('CLICKHOUSE_URL', dataDir);
  return url;
}

/** Whether the brokers of `findBrokers` are the embedded one, whose topics are smaller. */
export function embedsKafka({ kafka, embedded, dataDir }: Pick<Config, 'kafka' | 'embedded' | 'dataDir'>): boolean {
  if (kafka.brokers !== undefined) return embedded.kafka;
  return readEndpoints(dataDir)?.embedded.includes('kafka') === true;
}

function notFound(variable: string, dataDir: string): AdminError {
  return new AdminError(
    `No service is running with DATA_DIR ${dataDir}. Start one with "npm start", or set DATA_DIR or ${variable} to that of the service to administer.`,
  );
}
