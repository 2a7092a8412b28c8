import { randomUUID } from 'node:crypto';
import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { startBatchConsumer } from './batch-consumer.ts';
import type { ConsumedBatch, ConsumedRecord } from './consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from './dead-letters.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { replayGroup } from './replay-dead-letters.ts';
import { discardGroup, groupPositions } from './topics/topic-admin.ts';
import type { GroupPosition } from './topics/topic-admin.ts';

/** A record that a consumer set aside. What its headers do not say is undefined. */
export interface DeadLetter {
  /** Where the record came from: topic without the prefix, partition, offset and the broker's append time. */
  topic: string;
  partition: number | undefined;
  offset: number | undefined;
  timestampMs: number | undefined;
  setAsideAtMs: number;
  key: string;
  /** The consumer group that could not read it. */
  group: string | undefined;
  /** What the group was doing with it: `parse` for instance. */
  step: string | undefined;
  reason: string | undefined;
  /** The crawl source of a thing of unknown shape. */
  source: string | undefined;
  /** The beginning of the value, as text; bytes that are not UTF-8 become U+FFFD. */
  excerpt: string;
  /** Of the whole value. */
  bytes: number;
}

const EXCERPT_BYTES = 500;
/** Joining a group takes a few seconds; a letter that its retention deletes meanwhile never comes. */
const SILENCE_MS = 30_000;

/**
 * Reads a topic's dead letters, oldest first: those that `replayDeadLetters` would publish, or with `includeReplayed`
 * all that are kept. Reads in a consumer group of this call, which is deleted afterwards.
 *
 * @returns at most `limit` letters, and how many were found
 * @throws Error when no letter arrives for 30 s, or when the group fails
 */
export async function readDeadLetters(options: {
  kafka: KafkaConnection;
  prefix: string;
  /** The source topic, without the prefix. */
  topic: string;
  limit: number;
  includeReplayed: boolean;
}): Promise<{ letters: DeadLetter[]; found: number }> {
  const { kafka, prefix, topic, limit } = options;
  const source = topic + DEAD_LETTER_SUFFIX;
  const group = `dead-letter-list.${randomUUID()}`;
  // A new group starts at the oldest record that is kept.
  const startGroup = options.includeReplayed ? group : replayGroup(topic);
  const positions = await groupPositions(kafka, { prefix, group: startGroup, topics: [source] });
  const found = positions.reduce((sum, { next, head }) => sum + Number(head - next), 0);
  const wanted = Math.min(found, limit);
  if (wanted === 0) return { letters: [], found };
  const letters = await collect({ kafka, prefix, group, topic, positions, wanted });
  return { letters, found };
}

async function collect(options: {
  kafka: KafkaConnection;
  prefix: string;
  group: string;
  topic: string;
  positions: readonly GroupPosition[];
  wanted: number;
}): Promise<DeadLetter[]> {
  const { kafka, prefix, group, topic, positions, wanted } = options;
  const source = topic + DEAD_LETTER_SUFFIX;
  const letters: DeadLetter[] = [];
  const ended = Promise.withResolvers<undefined>();
  // The group may fail before the promise is awaited.
  ended.promise.catch(() => undefined);
  const silence = setTimeout(() => {
    ended.reject(new Error(`no dead letter of ${source} arrived in ${SILENCE_MS / 1_000} s`));
  }, SILENCE_MS);
  const handle = (batch: ConsumedBatch): Promise<void> => {
    silence.refresh();
    const records = batch.records.slice(0, wanted - letters.length);
    letters.push(...records.map((record) => toDeadLetter(topic, record)));
    if (letters.length >= wanted) ended.resolve(undefined);
    return Promise.resolve();
  };
  const consumer = await startBatchConsumer({
    kafka,
    prefix,
    group,
    topics: [source],
    handle,
    onAssigned: (_, assignment) => {
      for (const { partition, next } of positions) assignment.seek(source, partition, next);
      return Promise.resolve();
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
  return letters;
}

function toDeadLetter(topic: string, { key, value, headers, timestampMs }: ConsumedRecord): DeadLetter {
  const header = (name: string): string | undefined => {
    const text = headers[DEAD_LETTER_HEADER_PREFIX + name];
    return text === undefined ? undefined : String(text);
  };
  const number = (name: string): number | undefined => {
    const value = Number(header(name));
    // Another program may have written the header.
    return Number.isFinite(value) ? value : undefined;
  };
  return {
    topic,
    partition: number('partition'),
    offset: number('offset'),
    timestampMs: number('timestamp'),
    setAsideAtMs: timestampMs,
    key,
    group: header('group'),
    step: header('step'),
    reason: header('reason'),
    source: header('source'),
    excerpt: value.subarray(0, EXCERPT_BYTES).toString('utf8'),
    bytes: value.length,
  };
}
