import { randomUUID } from 'node:crypto';
import { createMetrics } from '../../runtime/metrics.ts';
import { startBatchConsumer } from '../batch-consumer.ts';
import type { ConsumedBatch } from '../consumed-batch.ts';
import type { KafkaConnection } from '../kafka-connection.ts';
import { discardGroup, groupPositions } from './topic-admin.ts';

/** Joining a group takes a few seconds; records that their retention deletes meanwhile never come. */
const SILENCE_MS = 30_000;

export interface TopicsToRead {
  kafka: KafkaConnection;
  /** Of the topics and of the group of this call, which are given without it. */
  prefix: string;
  topics: readonly string[];
  /** Called with one batch at a time. Its error ends the call. */
  handle: (batch: ConsumedBatch) => Promise<void>;
}

/**
 * Reads topics from their oldest record to the end that they have now, beside the groups that consume them: in a group
 * of this call, which is deleted afterwards.
 *
 * @throws Error when nothing arrives for 30 s, or when the group fails
 */
export async function readToEnd({ kafka, prefix, topics, handle }: TopicsToRead): Promise<void> {
  const group = `read-to-end.${randomUUID()}`;
  const heads = new Map<string, bigint>();
  for (const { topic, partition, next, head } of await groupPositions(kafka, { prefix, group, topics })) {
    if (head > next) heads.set(`${topic}|${partition}`, head);
  }
  if (heads.size === 0) return;
  const ended = Promise.withResolvers<undefined>();
  // The group may fail before the promise is awaited.
  ended.promise.catch(() => undefined);
  const silence = setTimeout(() => {
    ended.reject(new Error(`nothing of ${topics.join(', ')} arrived in ${SILENCE_MS / 1_000} s`));
  }, SILENCE_MS);
  const consumer = await startBatchConsumer({
    ...{ kafka, prefix, group, topics },
    handle: async (batch) => {
      silence.refresh();
      const key = `${batch.topic}|${batch.partition}`;
      const head = heads.get(key);
      if (head === undefined) return;
      await handle(batch);
      silence.refresh();
      if (batch.records.at(-1)!.offset + 1n >= head) heads.delete(key);
      if (heads.size === 0) ended.resolve(undefined);
    },
    fatal: ended.reject,
    metrics: createMetrics(),
    logger: kafka.logger,
  });
  try {
    await ended.promise;
  } finally {
    clearTimeout(silence);
    await consumer.stop();
    await discardGroup({ kafka, prefix, logger: kafka.logger }, group);
  }
}
