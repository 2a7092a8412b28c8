import type { z } from 'zod';
import type { Topic } from '../../schemas/topics.ts';
import { isClickhouseAway } from '../../shared/clickhouse/clickhouse-client.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import { isPostgresAway } from '../../shared/postgres/pool.ts';
import type { ArchiveRow } from './archive-rows.ts';
import type { ArchiverDependencies } from './start-archiver.ts';
import { GroupCommit } from './group-commit.ts';

export interface Archive<S extends z.ZodType> {
  group: string;
  /** All of one schema. */
  topics: readonly Topic<S>[];
  table: string;
  toRows: (values: z.output<S>[]) => Promise<ArchiveRow[]> | ArchiveRow[];
}

/**
 * Copies topics into a table. Steps: rows are made; they wait for the shared insert; it is acknowledged; the offsets are
 * committed. A crash before the last step inserts the same rows again, and the table's key makes them one.
 */
export async function archiveTopic<S extends z.ZodType>(
  { kafka, prefix, publisher, clickhouse, metrics, logger, fatal }: ArchiverDependencies,
  { group, topics, table, toRows }: Archive<S>,
): Promise<BatchConsumer> {
  const first = topics[0]!;
  const inserts = new GroupCommit<ArchiveRow>(async (values) => {
    const stopTimer = metrics.archiverFlushSeconds.startTimer({ table });
    await clickhouse.insert({ table, values, format: 'JSONEachRow' });
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
      const rows = await toRows(parsed.map(({ value }) => value));
      if (batch.isCurrent()) await inserts.add(rows);
      return { poison };
    },
    onAssigned: (partitions) => {
      inserts.setPartitions(partitions.length);
      return Promise.resolve();
    },
    isRetryable: (error) => isClickhouseAway(error) || isPostgresAway(error),
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    fatal,
    metrics,
    logger,
  });
}
