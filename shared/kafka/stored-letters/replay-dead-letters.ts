import type { IHeaders } from 'kafkajs';
import { DEAD_LETTER_SUFFIX } from '../../../schemas/messages/topics.ts';
import type { ConsumedBatch, ConsumedRecord } from '../consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from '../dead-letters.ts';
import type { KafkaConnection } from '../kafka-connection.ts';
import type { OutgoingRecord, Publisher } from '../publisher.ts';
import { readToEnd } from '../topics/read-to-end.ts';
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
  /** Called after each letter with how many were replayed so far, and how many will be. */
  onReplayed?: (replayed: number, total: number) => void;
}

export interface Replayed {
  replayed: number;
  setAsideAgain: number;
  remaining: number;
}

/** Its committed offset is where the next replay of the topic starts. */
export function replayGroup(topic: string): string {
  return `dead-letter-replay.${topic}`;
}

/**
 * Publishes a topic's dead letters to it again, oldest first, without the headers that were added, and then commits how
 * far it came, also where it fails half-way. It ends at the letters that were there at the start, so a letter that
 * fails again is not replayed in a circle, or after `limit` letters. Every consumer group of the topic gets the records
 * again; their effects are idempotent. A crash, or a second replay at the same time, may publish letters twice.
 *
 * @returns how many were read, how many of these were set aside again, and how many of those at the start remain
 */
export async function replayDeadLetters(options: ReplayOptions): Promise<Replayed> {
  const { kafka, prefix, topic, limit, publisher, onReplayed } = options;
  const source = topic + DEAD_LETTER_SUFFIX;
  const group = replayGroup(topic);
  const start = await groupPositions(kafka, { prefix, group, topics: [source] });
  const found = start.reduce((sum, { next, head }) => sum + Number(head - next), 0);
  const total = Math.min(found, limit);
  const published = new Map<number, bigint>();
  let replayed = 0;
  let setAsideAgain = 0;
  const handle = async ({ records }: ConsumedBatch): Promise<void> => {
    for (const record of records) {
      const restored = options.restore?.(record) ?? toOriginal(record);
      if ('reason' in restored) {
        await publisher.publish(source, [toLetterAgain(record, restored.reason)]);
        setAsideAgain += 1;
      } else {
        await publisher.publish(topic, [restored]);
      }
      published.set(record.partition, record.offset + 1n);
      replayed += 1;
      onReplayed?.(replayed, total);
    }
  };
  try {
    await readToEnd({ kafka, prefix, topics: [source], ranges: firstOf(start, limit), handle });
  } finally {
    const partitions = [...published].map(([partition, next]) => ({ partition, offset: String(next) }));
    if (partitions.length > 0) {
      await kafka.withAdmin((admin) =>
        admin.setOffsets({ groupId: prefix + group, topic: prefix + source, partitions }),
      );
    }
  }
  return { replayed, setAsideAgain, remaining: found - replayed };
}

/** Cuts the ranges so that together they have at most `limit` records. */
export function firstOf(ranges: readonly GroupPosition[], limit: number): GroupPosition[] {
  let left = BigInt(limit);
  return ranges.map((range) => {
    const wanted = range.head - range.next < left ? range.head - range.next : left;
    left -= wanted;
    return { ...range, head: range.next + wanted };
  });
}

function toLetterAgain({ key, value, headers }: ConsumedRecord, reason: string): OutgoingRecord {
  return { key, value, headers: { ...headers, [`${DEAD_LETTER_HEADER_PREFIX}reason`]: reason } };
}

function toOriginal(record: ConsumedRecord): { key: string; value: Buffer; headers: IHeaders } {
  const original = Object.entries(record.headers).filter(([name]) => !name.startsWith(DEAD_LETTER_HEADER_PREFIX));
  return { key: record.key, value: record.value, headers: Object.fromEntries(original) };
}
