import type { z } from 'zod';
import type { Topic } from '../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import { noteLostRecords } from '../../shared/stores/crawl/lost-records.ts';
import type { ArchiverDeps } from './archiver-deps.ts';
import { GroupCommit } from './group-commit.ts';

/**
 * ClickHouse works for each insert, and again when it merges the new part. At 150 items a second two archivers inserted
 * five times a second, which took ClickHouse 0.38 cores; since the broker gathers it takes 0.25 (`bench -- soak`).
 */
const GATHER = { bytes: 1024 * 1024, ms: 1_000 };

export interface Archive<S extends z.ZodType> {
  group: string;
  /** Topics with the same schema. */
  topics: readonly Topic<S>[];
  /** Label of the metrics. */
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
 * 1. Each partition's handler adds its rows to a shared insert (`GroupCommit`).
 * 2. ClickHouse acknowledges the insert.
 * 3. The consumer commits the offsets. A crash before this inserts the same rows again; ReplacingMergeTree keeps one
 *    row per key.
 */
export async function archiveTopic<S extends z.ZodType>(
  { kafka, prefix, publisher, pool, metrics, logger, fatal }: ArchiverDeps,
  { group, topics, table, insert }: Archive<S>,
): Promise<BatchConsumer> {
  const first = topics[0]!;
  const inserts = new GroupCommit<z.output<S>>(async (values) => {
    const stopTimer = metrics.archiverFlushSeconds.startTimer({ table });
    await insert(values);
    stopTimer();
    metrics.archiverRows.inc({ table }, values.length);
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
      await inserts.add(parsed.map(({ value }) => value));
      return { poison };
    },
    gather: GATHER,
    onAssigned: (partitions) => {
      inserts.setPartitions(partitions.length);
      return Promise.resolve();
    },
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    noteLost: (lost) => noteLostRecords(pool, lost),
    fatal,
    metrics,
    logger,
  });
}
