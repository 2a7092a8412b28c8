import type { z } from 'zod';
import type { Topic } from '../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import type { ArchiverDeps } from './archiver-deps.ts';
import { GroupCommit } from './group-commit.ts';

export interface Archive<S extends z.ZodType> {
  group: string;
  /** All of one schema. */
  topics: readonly Topic<S>[];
  /** For the metrics. */
  table: string;
  /**
   * Writes values of several partitions; resolves when the database has acknowledged them. Repeating it is harmless.
   */
  insert: (values: z.output<S>[]) => Promise<void>;
}

/**
 * Copies topics into a table. Steps: values wait for the shared insert; it is acknowledged; the offsets are committed.
 * A crash before the last step inserts the same rows again, and the table's key makes them one.
 */
export async function archiveTopic<S extends z.ZodType>(
  { kafka, prefix, publisher, metrics, logger, fatal }: ArchiverDeps,
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
    // Every partition's handler may wait for the shared insert at the same time.
    partitionsConcurrently: topics.reduce((sum, { partitions }) => sum + partitions.cluster, 0),
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(first.schema, batch);
      await inserts.add(parsed.map(({ value }) => value));
      return { poison };
    },
    onAssigned: (partitions) => {
      inserts.setPartitions(partitions.length);
      return Promise.resolve();
    },
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    fatal,
    metrics,
    logger,
  });
}
