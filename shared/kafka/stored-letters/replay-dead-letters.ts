import type { IHeaders } from 'kafkajs';
import { DEAD_LETTER_SUFFIX } from '../../../schemas/messages/topics.ts';
import { whenAborted } from '../../runtime/abort.ts';
import { toError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { startBatchConsumer } from '../batch-consumer.ts';
import type { ConsumedBatch, ConsumedRecord } from '../consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from '../dead-letters.ts';
import type { KafkaConnection } from '../kafka-connection.ts';
import type { OutgoingRecord, Publisher } from '../publisher.ts';
import { groupPositions } from '../topics/topic-admin.ts';
import type { GroupPosition } from '../topics/topic-admin.ts';

export interface ReplayOptions {
  kafka: KafkaConnection;
  prefix: string;
  /** The source topic, without the prefix. */
  topic: string;
  limit: number;
  /**
   * The record to publish for a letter, or why it cannot be published yet: then the letter is set aside again, for the
   * next replay. Undefined: the original record.
   */
  restore?: (letter: ConsumedRecord) => OutgoingRecord | { reason: string } | undefined;
  publisher: Publisher;
  metrics: Metrics;
  logger: Logger;
  /** Called after each letter with how many were replayed so far, and how many will be. */
  onReplayed?: (replayed: number, total: number) => void;
}

export interface Replayed {
  replayed: number;
  setAsideAgain: number;
  remaining: number;
}

/** How often a replay looks whether another one has replayed its letters. */
const CHECK_EVERY_MS = 2_000;

/** Its committed offset is where the next replay of the topic starts. */
export function replayGroup(topic: string): string {
  return `dead-letter-replay.${topic}`;
}

/**
 * Publishes a topic's dead letters to it again, oldest first, without the headers that were added, and commits how far
 * it came. It ends at the letters that were there at the start, so a letter that fails again is not replayed in a
 * circle, or after `limit` letters. Every consumer group of the topic gets the records again; their effects are
 * idempotent. A crash, or a second replay at the same time, may publish a letter twice.
 *
 * @returns how many were read, how many of these were set aside again, and how many of those at the start remain
 */
export async function replayDeadLetters(options: ReplayOptions): Promise<Replayed> {
  const { kafka, topic, publisher, onReplayed } = options;
  const start = await readPositions(options);
  const total = Math.min(countUntil(start, start), options.limit);
  if (total <= 0) return { replayed: 0, setAsideAgain: 0, remaining: countUntil(start, start) };
  let replayed = 0;
  let setAsideAgain = 0;
  const ended = Promise.withResolvers<undefined>();
  // The group may fail before the promise is awaited.
  ended.promise.catch(() => undefined);
  /** The highest published offset of each partition. */
  const published = new Map<number, bigint>();
  const handle = async ({ records, signal }: ConsumedBatch): Promise<void> => {
    const record = records[0]!;
    // Published, but its commit failed, so it is delivered again and only its commit is missing.
    if (record.offset <= (published.get(record.partition) ?? -1n)) return;
    // A letter beyond the last one waits here for the stop, after which nothing is committed.
    if (replayed >= total || isBeyond(start, record)) return whenAborted(signal);
    const restored = options.restore?.(record) ?? toOriginal(record);
    if ('reason' in restored) {
      await publisher.publish(topic + DEAD_LETTER_SUFFIX, [toLetterAgain(record, restored.reason)]);
      setAsideAgain += 1;
    } else {
      await publisher.publish(topic, [restored]);
    }
    published.set(record.partition, record.offset);
    replayed += 1;
    onReplayed?.(replayed, total);
  };
  const consumer = await startBatchConsumer({
    ...options,
    group: replayGroup(topic),
    topics: [topic + DEAD_LETTER_SUFFIX],
    maxRecords: 1,
    handle,
    fatal: ended.reject,
    onCommitted: () => {
      if (replayed >= total) ended.resolve(undefined);
    },
  });
  const check = setInterval(() => {
    readPositions(options).then(
      (now) => {
        if (countUntil(now, start) === 0) ended.resolve(undefined);
      },
      (error: unknown) => kafka.logger.debug({ err: toError(error) }, 'the offsets of the replay could not be read'),
    );
  }, CHECK_EVERY_MS);
  try {
    await ended.promise;
  } finally {
    clearInterval(check);
    await consumer.stop();
  }
  return { replayed, setAsideAgain, remaining: countUntil(await readPositions(options), start) };
}

function readPositions({ kafka, prefix, topic }: ReplayOptions): Promise<GroupPosition[]> {
  const topics = [topic + DEAD_LETTER_SUFFIX];
  return groupPositions(kafka, { prefix, group: replayGroup(topic), topics });
}

/** Letters between the positions `now` and the heads of `start`. */
function countUntil(now: readonly GroupPosition[], start: readonly GroupPosition[]): number {
  const heads = new Map(start.map(({ partition, head }) => [partition, head]));
  return now.reduce((sum, { partition, next }) => sum + Math.max(0, Number((heads.get(partition) ?? next) - next)), 0);
}

function isBeyond(start: readonly GroupPosition[], { partition, offset }: ConsumedRecord): boolean {
  return start.some((position) => position.partition === partition && offset >= position.head);
}

function toLetterAgain({ key, value, headers }: ConsumedRecord, reason: string): OutgoingRecord {
  return { key, value, headers: { ...headers, [`${DEAD_LETTER_HEADER_PREFIX}reason`]: reason } };
}

function toOriginal(record: ConsumedRecord): { key: string; value: Buffer; headers: IHeaders } {
  const original = Object.entries(record.headers).filter(([name]) => !name.startsWith(DEAD_LETTER_HEADER_PREFIX));
  return { key: record.key, value: record.value, headers: Object.fromEntries(original) };
}
