import type { ITopicConfig } from 'kafkajs';
import { DEAD_LETTER_RETENTION_MS, DEAD_LETTER_SUFFIX, MAX_MESSAGE_BYTES } from '../../schemas/messages/topics.ts';
import type { Topic } from '../../schemas/messages/topics.ts';

/** The part of a topic's declaration in schemas/messages/topics.ts that its settings follow from. */
export type TopicDeclaration = Pick<Topic, 'name' | 'partitions' | 'retentionMs' | 'embeddedRetentionBytes'>;

/** Which topics an installation has, and how its cluster keeps them. */
export interface TopicPlan {
  /** Prefix of all topics and consumer groups. */
  prefix: string;
  /** Whether the broker is the embedded one: a single node, with bounded logs. */
  embedded: boolean;
  topics: readonly TopicDeclaration[];
  /** Copies of each partition that a cluster must have; undefined: as many as there are brokers, at most 3. */
  replication?: number | undefined;
  /** Partitions by topic, without the prefix, where they are not the declared ones. */
  partitions?: Readonly<Record<string, number>> | undefined;
}

export interface TopicSettings {
  /** With the prefix. */
  topic: string;
  partitions: number;
  retentionMs: number;
  /** Of each partition; undefined: unbounded. */
  retentionBytes: number | undefined;
}

export function topicSettings({ topics, prefix, embedded, partitions }: TopicPlan): TopicSettings[] {
  return topics.flatMap((topic) => [
    {
      topic: prefix + topic.name,
      partitions: partitions?.[topic.name] ?? (embedded ? topic.partitions.embedded : topic.partitions.cluster),
      retentionMs: topic.retentionMs,
      retentionBytes: embedded ? topic.embeddedRetentionBytes : undefined,
    },
    {
      topic: prefix + topic.name + DEAD_LETTER_SUFFIX,
      partitions: 1,
      retentionMs: DEAD_LETTER_RETENTION_MS,
      retentionBytes: undefined,
    },
  ]);
}

/** Copies of a partition where none are required and there are as many brokers. */
export const USUAL_REPLICATION = 3;

/** Two of three replicas in sync: no acknowledged record is lost while one broker is unavailable. */
export function insyncReplicas(replication: number): number {
  return replication >= 3 ? 2 : 1;
}

export function topicConfig(wanted: TopicSettings, replication: number): ITopicConfig {
  const settings: Record<string, string> = {
    'message.timestamp.type': 'LogAppendTime',
    // The broker must not recompress: kafkajs reads only gzip and uncompressed records.
    'compression.type': 'producer',
    'max.message.bytes': String(MAX_MESSAGE_BYTES),
    'retention.ms': String(wanted.retentionMs),
    'min.insync.replicas': String(insyncReplicas(replication)),
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
