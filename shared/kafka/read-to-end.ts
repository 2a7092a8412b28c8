import { randomUUID } from 'node:crypto';
import { createMetrics } from '../runtime/metrics.ts';
import { startBatchConsumer } from './batch-consumer.ts';
import type { ConsumedBatch } from './consumed-batch.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { discardGroup, groupPositions } from './topic-admin.ts';
import type { GroupPosition } from './topic-admin.ts';

/** Joining a group takes a few seconds; records that their retention deletes meanwhile never come. */
const SILENCE_MS = 30_000;

export interface TopicsToRead {
  kafka: KafkaConnection;
  /** The prefix of the topics and of the group of this call, which are given without it. */
  prefix: string;
  topics: readonly string[];
  /** From `next` to before `head` of each partition. Default: from the oldest record to the end that it has now. */
  ranges?: readonly GroupPosition[];
  /** Called with one batch at a time, each record once. Its error ends the call. */
  handle: (batch: ConsumedBatch) => Promise<void>;
  /** The longest wait for the next batch, in milliseconds; default 30 s. */
  silenceMs?: number;
}

/**
 * Reads topics to their present end, in a group of this call, which is deleted afterwards.
 *
 * @throws Error when nothing arrives for `silenceMs`, or when the group fails
 */
export async function readToEnd(options: TopicsToRead): Promise<void> {
  const { kafka, prefix, topics, silenceMs = SILENCE_MS } = options;
  const group = `read-to-end.${randomUUID()}`;
  const ranges = options.ranges ?? (await groupPositions(kafka, { prefix, group, topics }));
  const unread = new Map(ranges.filter(({ next, head }) => head > next).map((range) => [keyOf(range), { ...range }]));
  if (unread.size === 0) return;
  const ended = Promise.withResolvers<undefined>();
  // The group may fail before the promise is awaited.
  ended.promise.catch(() => undefined);
  const silence = setTimeout(() => {
    ended.reject(new Error(`nothing of ${topics.join(', ')} arrived in ${silenceMs / 1_000} s`));
  }, silenceMs);
  const isOver = new AbortController();
  const starting = startBatchConsumer({
    ...{ kafka, prefix, group, topics, fatal: ended.reject, startSignal: isOver.signal },
    onAssigned: (_, assignment) => {
      for (const { topic, partition, next } of unread.values()) assignment.seek(topic, partition, next);
      return Promise.resolve();
    },
    handle: async (batch) => {
      silence.refresh();
      await handleUnread(unread, batch, options.handle);
      silence.refresh();
      if (unread.size === 0) ended.resolve(undefined);
    },
    metrics: createMetrics(),
    logger: kafka.logger,
  });
  starting.catch(ended.reject);
  try {
    await ended.promise;
  } finally {
    clearTimeout(silence);
    isOver.abort();
    await starting
      .then((consumer) => consumer.stop())
      .catch((error: unknown) => {
        // The reason of the end is thrown, and not that a handler did not end in time.
        kafka.logger.info({ err: error, group }, 'the reader of a topic did not stop in order');
      });
    await discardGroup({ kafka, prefix, logger: kafka.logger }, group);
  }
}

/** Handles the records that are in the partition's range, and shortens the range. Exported for its test. */
export async function handleUnread(
  unread: Map<string, GroupPosition>,
  batch: ConsumedBatch,
  handle: TopicsToRead['handle'],
): Promise<void> {
  const range = unread.get(keyOf(batch));
  if (!range) return;
  // A batch comes again if its offset could not be committed.
  const records = batch.records.filter(({ offset }) => offset >= range.next && offset < range.head);
  if (records.length > 0) await handle({ ...batch, records });
  const next = batch.records.at(-1)!.offset + 1n;
  // A repeated batch may be shorter than the first.
  if (next > range.next) range.next = next;
  if (range.next >= range.head) unread.delete(keyOf(batch));
}

function keyOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}|${partition}`;
}
