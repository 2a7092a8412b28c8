import type { z } from 'zod';
import type { Topic } from '../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { noteLostRecords } from '../../shared/stores/crawl/lost-records.ts';

export interface ArchiverDeps {
  kafka: KafkaConnection;
  publisher: Publisher;
  prefix: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}

/**
 * ClickHouse works for each insert, and again when it merges the new part. At 150 items a second two archivers inserted
 * five times a second, which took ClickHouse 0.38 cores; since the broker gathers it takes 0.25 (`bench -- soak`).
 */
const GATHER = { bytes: 1024 * 1024, ms: 1_000 };
const ROWS_PER_INSERT = 5_000;

export interface Archive<S extends z.ZodType> {
  group: string;
  topics: readonly Topic<S>[];
  table: string;
  /**
   * Writes values of several partitions and resolves when ClickHouse acknowledged them. Must be harmless to repeat.
   */
  insert: (values: z.output<S>[]) => Promise<void>;
}

/**
 * Copies topics into a ClickHouse table.
 *
 * Before: the crawler, the recorder or the deliverer published the messages. Steps:
 * 1. The partitions of one answer to a fetch share an insert, and so do those that come while one is under way.
 * 2. ClickHouse acknowledges the insert.
 * 3. The consumer commits the offsets. A crash before this inserts the same rows again; ReplacingMergeTree keeps one
 *    row per key.
 */
export async function archiveTopic<S extends z.ZodType>(
  { kafka, prefix, publisher, pool, metrics, logger, fatal }: ArchiverDeps,
  { group, topics, table, insert }: Archive<S>,
): Promise<BatchConsumer> {
  const first = topics[0]!;
  const inserts = new CallBatcher<z.output<S>[], undefined>({
    run: async (groups) => {
      const values = groups.flat();
      const stopTimer = metrics.archiverFlushSeconds.startTimer({ table });
      await insert(values);
      stopTimer();
      metrics.archiverRows.inc({ table }, values.length);
      return groups.map(() => undefined);
    },
    sizeOf: (values) => values.length,
    maxGroup: ROWS_PER_INSERT,
    maxRunning: 1,
  });
  return startBatchConsumer({
    kafka,
    prefix,
    group,
    topics: topics.map(({ name }) => name),
    // The handlers of all partitions may wait for the shared insert at the same time.
    partitionsConcurrently: topics.reduce((sum, { partitions }) => sum + partitions.cluster, 0),
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(first.schema, batch);
      if (parsed.length > 0) await inserts.call(parsed.map(({ value }) => value));
      return { poison };
    },
    gather: GATHER,
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    noteLost: (lost) => noteLostRecords(pool, lost),
    fatal,
    metrics,
    logger,
  });
}
