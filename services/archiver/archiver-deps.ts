import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

export interface ArchiverDeps {
  kafka: KafkaConnection;
  /** Used for dead letters only. */
  publisher: Publisher;
  prefix: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}
