import type { IHeaders } from 'kafkajs';
import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import { whenAborted } from '../runtime/abort.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { startBatchConsumer } from './batch-consumer.ts';
import type { ConsumedBatch, ConsumedRecord } from './consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from './dead-letters.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import type { Publisher } from './publisher.ts';
import { consumerLag } from './topic-admin.ts';

/** Each topic's replay remembers its place in a group of its own. */
const REPLAY_GROUP = 'dead-letter-replay';

/**
 * Publishes a topic's dead letters to it again, oldest first, without the headers that were added, and remembers how
 * far it came. Ends at the letters that were there at the start, so one that fails again is not replayed in a circle,
 * or after `limit` letters. Every group of the topic sees the records again, entered anew; effects have keys that make
 * this harmless. A crash may repeat the last letter.
 *
 * @returns how many were published.
 */
export async function replayDeadLetters(options: {
  kafka: KafkaConnection;
  prefix: string;
  topic: string;
  limit: number;
  publisher: Publisher;
  metrics: Metrics;
  logger: Logger;
}): Promise<number> {
  const { kafka, prefix, topic, publisher } = options;
  const source = topic + DEAD_LETTER_SUFFIX;
  const group = `${REPLAY_GROUP}.${topic}`;
  const waiting = (await consumerLag(kafka, { prefix, group, topics: [source] })).reduce(
    (sum, { lag }) => sum + lag,
    0,
  );
  const wanted = Math.min(waiting, options.limit);
  if (wanted <= 0) return 0;
  let replayed = 0;
  const ended = Promise.withResolvers<undefined>();
  const handle = async (batch: ConsumedBatch): Promise<void> => {
    // Letters beyond the wanted ones stay unread: their handler waits for the stop, after which nothing is committed.
    if (replayed >= wanted) await whenAborted(batch.signal);
    else {
      await publisher.publish(topic, batch.records.map(toOriginal));
      replayed += batch.records.length;
    }
  };
  const consumer = await startBatchConsumer({
    ...options,
    group,
    topics: [source],
    maxRecords: 1,
    handle,
    fatal: ended.reject,
    onCommitted: () => {
      if (replayed >= wanted) ended.resolve(undefined);
    },
  });
  try {
    await ended.promise;
  } finally {
    await consumer.stop();
  }
  return replayed;
}

function toOriginal(record: ConsumedRecord): { key: string; value: Buffer; headers: IHeaders } {
  const original = Object.entries(record.headers).filter(([name]) => !name.startsWith(DEAD_LETTER_HEADER_PREFIX));
  return { key: record.key, value: record.value, headers: Object.fromEntries(original) };
}
