import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

export interface BillerDeps {
  pool: Pool;
  /** Used only to read how far the topics are archived. */
  kafka: KafkaConnection;
  prefix: string;
  clickhouse: ClickHouseClient;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}
