import type { Admin, ITopicConfig } from 'kafkajs';
import { DEAD_LETTER_RETENTION_MS, DEAD_LETTER_SUFFIX, MAX_MESSAGE_BYTES } from '../../schemas/messages/topics.ts';
import type { Topic } from '../../schemas/messages/topics.ts';
import { retry } from '../runtime/retry.ts';
import { isKafkaAway } from './kafka-away.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { protocolErrorType } from './kafka-connection.ts';

/** The part of a topic's declaration in schemas/messages/topics.ts that ensureTopics needs. */
export type TopicDeclaration = Pick<Topic, 'name' | 'partitions' | 'retentionMs' | 'embeddedRetentionBytes'>;

/** An existing topic has a different number of partitions than this version declares. */
export class PartitionCountMismatch extends Error {
  override name = 'PartitionCountMismatch';
}

interface TopicSettings {
  topic: string;
  partitions: number;
  retentionMs: number;
  retentionBytes: number | undefined;
}

/**
 * Creates missing topics, each with its dead-letter topic. Existing topics keep their settings. Several processes may
 * call it at once.
 *
 * @throws PartitionCountMismatch that names every topic with another partition count. A changed count would move keys
 * to other partitions, so the records of a key would lose their order.
 */
export async function ensureTopics(
  kafka: KafkaConnection,
  options: { prefix: string; embedded: boolean; topics: readonly TopicDeclaration[] },
): Promise<void> {
  const wanted = options.topics.flatMap((topic) => topicSettings(topic, options));
  await kafka.withAdmin(async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !existing.has(topic));
    if (missing.length > 0) {
      const replication = options.embedded ? 1 : Math.min(3, (await admin.describeCluster()).brokers.length);
      await admin.createTopics({
        topics: missing.map((topic) => toConfig(topic, replication)),
        timeout: 10_000,
        waitForLeaders: false,
      });
    }
    // Not every broker knows a new topic at once; until then its metadata is an error.
    const counts = await retry(() => readPartitionCounts(admin, wanted), {
      what: 'reading the partition counts',
      logger: kafka.logger,
      retries: 30,
      maxMs: 500,
    });
    refuseOtherCounts(counts, wanted);
  });
}

function topicSettings(topic: TopicDeclaration, options: { prefix: string; embedded: boolean }): TopicSettings[] {
  return [
    {
      topic: options.prefix + topic.name,
      partitions: options.embedded ? topic.partitions.embedded : topic.partitions.cluster,
      retentionMs: topic.retentionMs,
      retentionBytes: options.embedded ? topic.embeddedRetentionBytes : undefined,
    },
    {
      topic: options.prefix + topic.name + DEAD_LETTER_SUFFIX,
      partitions: 1,
      retentionMs: DEAD_LETTER_RETENTION_MS,
      retentionBytes: undefined,
    },
  ];
}

function toConfig(wanted: TopicSettings, replication: number): ITopicConfig {
  const settings: Record<string, string> = {
    'message.timestamp.type': 'LogAppendTime',
    // The broker must not recompress: kafkajs reads only gzip and uncompressed records.
    'compression.type': 'producer',
    'max.message.bytes': String(MAX_MESSAGE_BYTES),
    'retention.ms': String(wanted.retentionMs),
    // Two of three replicas in sync: no acknowledged record is lost while one broker is away.
    'min.insync.replicas': replication >= 3 ? '2' : '1',
  };
  // Set explicitly also without a bound, because a broker's default could expire records unread.
  settings['retention.bytes'] = String(wanted.retentionBytes ?? -1);
  if (wanted.retentionBytes !== undefined) {
    // Kafka deletes whole segments; with an eighth of the bound per segment a partition exceeds it by at most 12 %.
    settings['segment.bytes'] = String(Math.max(16 * 1024 * 1024, Math.floor(wanted.retentionBytes / 8)));
  }
  return {
    topic: wanted.topic,
    numPartitions: wanted.partitions,
    replicationFactor: replication,
    configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
  };
}

async function readPartitionCounts(admin: Admin, wanted: readonly TopicSettings[]): Promise<Map<string, number>> {
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted.map(({ topic }) => topic) });
  return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
}

function refuseOtherCounts(counts: ReadonlyMap<string, number>, wanted: readonly TopicSettings[]): void {
  const faults = wanted
    .filter(({ topic, partitions }) => counts.get(topic) !== partitions)
    .map(({ topic, partitions }) => `  ${topic} has ${counts.get(topic) ?? 0}, this version declares ${partitions}`);
  if (faults.length > 0) {
    throw new PartitionCountMismatch(
      `These topics do not have the declared number of partitions:\n${faults.join('\n')}\n` +
        'Records of one key would lose their order. Stop the producers, wait until every group has lag 0, and change the count; ' +
        'or set another KAFKA_TOPIC_PREFIX.',
    );
  }
}

/** Returns the partition counts by full topic name. */
export async function partitionCounts(kafka: KafkaConnection, topics: readonly string[]): Promise<Map<string, number>> {
  const metadata = await kafka.withAdmin((admin) => admin.fetchTopicMetadata({ topics: [...topics] }));
  return new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
}

export interface PartitionLag {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /**
   * The number of records between the committed offset (or the oldest record if there is none) and the end of the log.
   */
  lag: number;
}

/** Returns the lag of a group per partition. Group and topics are given without the prefix. */
export async function consumerLag(
  kafka: KafkaConnection,
  options: { prefix: string; group: string; topics: readonly string[] },
): Promise<PartitionLag[]> {
  return kafka.withAdmin((admin) => readConsumerLag(admin, options));
}

/** Like consumerLag, with an open admin connection. */
export async function readConsumerLag(
  admin: Admin,
  options: { prefix: string; group: string; topics: readonly string[] },
): Promise<PartitionLag[]> {
  const positions = await readGroupPositions(admin, options);
  return positions.map(({ topic, partition, next, head }) => ({ topic, partition, lag: Number(head - next) }));
}

export interface GroupPosition {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** The offset that the group reads next: the committed one, or the oldest record's where that is later. */
  next: bigint;
  /** The offset that the next new record gets; never below `next`. */
  head: bigint;
}

/**
 * Where a group is in each partition. Group and topics are given without the prefix. Tries for about 20 s while the
 * brokers are away: a broker that has just started loads its groups first.
 */
export function groupPositions(
  kafka: KafkaConnection,
  options: { prefix: string; group: string; topics: readonly string[] },
): Promise<GroupPosition[]> {
  return retry(() => kafka.withAdmin((admin) => readGroupPositions(admin, options)), {
    what: `reading the offsets of ${options.group}`,
    logger: kafka.logger,
    retries: 20,
    maxMs: 1_000,
    isRetryable: isKafkaAway,
  });
}

async function readGroupPositions(
  admin: Admin,
  options: { prefix: string; group: string; topics: readonly string[] },
): Promise<GroupPosition[]> {
  const topics = options.topics.map((topic) => options.prefix + topic);
  const committed = new Map<string, bigint>();
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId: options.prefix + options.group, topics })) {
    for (const { partition, offset } of partitions) committed.set(`${topic}|${partition}`, BigInt(offset));
  }
  const positions: GroupPosition[] = [];
  for (const topic of topics) {
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      // A negative offset means that nothing was committed. Records between the committed one and `low` have expired.
      const next = max(committed.get(`${topic}|${partition}`) ?? -1n, BigInt(low));
      positions.push({ topic: topic.slice(options.prefix.length), partition, next, head: max(BigInt(high), next) });
    }
  }
  return positions;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Deletes consumer groups without members, given without the prefix. Ignores groups that do not exist. */
export async function deleteGroups(kafka: KafkaConnection, prefix: string, groups: readonly string[]): Promise<void> {
  await kafka.withAdmin(async (admin) => {
    for (const group of groups) {
      try {
        await admin.deleteGroups([prefix + group]);
      } catch (error) {
        if (!isGroupMissing(error)) throw error;
      }
    }
  });
}

function isGroupMissing(error: unknown): boolean {
  if (protocolErrorType(error) === 'GROUP_ID_NOT_FOUND') return true;
  // kafkajs wraps the response in an error with a list of {groupId, error}.
  if (!(error instanceof Error) || !('groups' in error) || !Array.isArray(error.groups)) return false;
  const failures: unknown[] = error.groups;
  return failures.every(
    (failure) =>
      typeof failure === 'object' &&
      failure !== null &&
      'error' in failure &&
      protocolErrorType(failure.error) === 'GROUP_ID_NOT_FOUND',
  );
}
