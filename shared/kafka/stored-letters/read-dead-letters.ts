import { randomUUID } from 'node:crypto';
import { DEAD_LETTER_SUFFIX } from '../../../schemas/messages/topics.ts';
import type { ConsumedRecord } from '../consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from '../dead-letters.ts';
import type { KafkaConnection } from '../kafka-connection.ts';
import { firstOf, replayGroup } from './replay-dead-letters.ts';
import { readToEnd } from '../topics/read-to-end.ts';
import { groupPositions } from '../topics/topic-admin.ts';

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

/**
 * Reads a topic's dead letters, oldest first: those that `replayDeadLetters` would publish, or with `includeReplayed`
 * all that are kept.
 *
 * @returns at most `limit` letters, and how many were found
 * @throws Error when no letter arrives for 30 s, for instance because no broker answers
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
  // A group that has committed nothing would start at the oldest record that is kept.
  const startGroup = options.includeReplayed ? `dead-letter-list.${randomUUID()}` : replayGroup(topic);
  const positions = await groupPositions(kafka, { prefix, group: startGroup, topics: [source] });
  const found = positions.reduce((sum, { next, head }) => sum + Number(head - next), 0);
  const letters: DeadLetter[] = [];
  await readToEnd({
    ...{ kafka, prefix, topics: [source], ranges: firstOf(positions, limit) },
    handle: ({ records }) => {
      letters.push(...records.map((record) => toDeadLetter(topic, record)));
      return Promise.resolve();
    },
  });
  return { letters, found };
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
