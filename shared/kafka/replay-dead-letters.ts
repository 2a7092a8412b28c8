import { randomUUID } from 'node:crypto';
import type { IHeaders } from 'kafkajs';
import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import { retry } from '../runtime/retry.ts';
import type { ConsumedBatch, ConsumedRecord } from './consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX, deadLetterOf } from './dead-letters.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import type { OutgoingRecord, Publisher } from './publisher.ts';
import { connectedGroups } from './raise-partitions.ts';
import { readToEnd } from './read-to-end.ts';
import { groupPositions, lagOf } from './topic-admin.ts';
import type { GroupPosition } from './topic-admin.ts';

export interface ReplayOptions {
  kafka: KafkaConnection;
  prefix: string;
  /** The source topic, without the prefix. */
  topic: string;
  limit: number;
  /** The record to publish, or why it must be set aside again. Undefined: the original record. */
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
 * Publishes a topic's dead letters to it again, oldest first, and commits how far it came, also when it fails halfway.
 * It ends at the letters that were there at the start, so a letter that fails again is not replayed in a loop. A crash,
 * or a second replay at the same time, may publish letters twice.
 *
 * @returns how many were read, how many of these were set aside again, and how many of those at the start remain
 */
export async function replayDeadLetters(options: ReplayOptions): Promise<Replayed> {
  const { kafka, prefix, topic, limit, publisher, onReplayed } = options;
  const source = topic + DEAD_LETTER_SUFFIX;
  const group = replayGroup(topic);
  const start = await groupPositions(kafka, { prefix, group, topics: [source] });
  const found = lagOf(start);
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
    const commit = () =>
      kafka.withAdmin((admin) => admin.setOffsets({ groupId: prefix + group, topic: prefix + source, partitions }));
    // kafkajs joins the group for that, and is refused for a moment while another replay does so.
    const options = { what: 'storing how far a replay came', logger: kafka.logger, retries: 10, maxMs: 1_000 };
    if (partitions.length > 0) await retry(commit, options);
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

/** Nothing was changed; the message says why. */
export class CannotSetAside extends Error {
  override name = 'CannotSetAside';
}

class GroupHasMembers extends CannotSetAside {
  override name = 'GroupHasMembers';
}

const hasMembers = (group: string): string =>
  `processes are running the group ${group}, which is not halted: stop them first`;

/** A halted group has members for a few seconds of each minute; with many processes not all step out at once. */
const EMPTY_TRIES = 90;

interface RecordsToSetAside {
  kafka: KafkaConnection;
  prefix: string;
  /** Without the prefix, as the topic. */
  group: string;
  topic: string;
  partition: number;
  /** The first offset that stays. */
  to: bigint;
  publisher: Publisher;
  report: (line: string) => void;
  /** How often it looks, a second apart, whether the group has left. */
  tries?: number;
}

/**
 * Moves the records of one partition that a halted group reads next to the dead letters, in their order:
 *   1. wait until the group has no member;
 *   2. publish the letters;
 *   3. set the group's offset. A crash before it publishes them again at the next call, which is harmless.
 *
 * @returns how many
 * @throws CannotSetAside when the offset is not before the group, or the group has members all the time
 */
export async function setAsideRecords(options: RecordsToSetAside): Promise<number> {
  const { kafka, prefix, group, topic, partition, to, publisher } = options;
  await whenEmpty(options, () => Promise.resolve());
  const readPosition = async () => {
    const positions = await groupPositions(kafka, { prefix, group, topics: [topic] });
    return positions.find((one) => one.partition === partition);
  };
  const position = await readPosition();
  if (!position) throw new CannotSetAside(`${topic} has no partition ${partition}`);
  const { next, head } = position;
  if (to <= next || to > head) {
    const range = next === head ? 'it has read the whole partition' : `--to must be from ${next + 1n} to ${head}`;
    throw new CannotSetAside(`${group} is at offset ${next} of partition ${partition}: ${range}`);
  }
  let records = 0;
  await readToEnd({
    ...{ kafka, prefix, topics: [topic], ranges: [{ topic, partition, next, head: to }] },
    handle: async (batch) => {
      const letters = batch.records.map((record) =>
        deadLetterOf(group, { record, step: 'operator', reason: 'set aside' }),
      );
      await publisher.publish(topic + DEAD_LETTER_SUFFIX, letters);
      records += letters.length;
    },
  });
  await whenEmpty(options, async () => {
    await kafka.withAdmin((admin) =>
      admin.setOffsets({
        ...{ groupId: prefix + group, topic: prefix + topic },
        partitions: [{ partition, offset: String(to) }],
      }),
    );
    // kafkajs joins the group for that, and sets nothing where a process that joined as well got the partition.
    if (((await readPosition())?.next ?? 0n) < to) throw new GroupHasMembers(hasMembers(group));
  });
  return records;
}

/** The broker lets nobody else set the offsets of a group with members. */
function whenEmpty(
  { kafka, prefix, group, report, tries }: RecordsToSetAside,
  work: () => Promise<void>,
): Promise<void> {
  let isReported = false;
  return retry(
    async () => {
      if ((await connectedGroups(kafka, prefix)).includes(group)) {
        if (!isReported) report(`waiting until no process is in the group ${group}; each leaves it when it halts`);
        isReported = true;
        throw new GroupHasMembers(hasMembers(group));
      }
      await work();
    },
    {
      what: `waiting for the group ${group}`,
      logger: kafka.logger,
      retries: tries ?? EMPTY_TRIES,
      minMs: 1_000,
      maxMs: 1_000,
      isRetryable: (error) => error instanceof GroupHasMembers,
    },
  );
}

/** A record that a consumer set aside. What its headers do not say is undefined. */
export interface DeadLetter {
  /** Where the record came from: topic without the prefix, partition, offset and the broker's append time. */
  topic: string;
  partition: number | undefined;
  offset: number | undefined;
  timestampMs: number | undefined;
  setAsideAtMs: number;
  key: string;
  group: string | undefined;
  /** What the group was doing with it: `parse` for instance. */
  step: string | undefined;
  reason: string | undefined;
  /** The crawl source of a malformed item. */
  source: string | undefined;
  /** The beginning of the value, as text; bytes that are not UTF-8 become U+FFFD. */
  excerpt: string;
  bytes: number;
}

const EXCERPT_BYTES = 500;

/**
 * Oldest first: those that `replayDeadLetters` would publish, or with `includeReplayed` all that are kept.
 *
 * @returns at most `limit` letters, and how many were found
 * @throws Error when no letter arrives for 30 s
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
  const letters: DeadLetter[] = [];
  await readToEnd({
    ...{ kafka, prefix, topics: [source], ranges: firstOf(positions, limit) },
    handle: ({ records }) => {
      letters.push(...records.map((record) => toDeadLetter(topic, record)));
      return Promise.resolve();
    },
  });
  return { letters, found: lagOf(positions) };
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
