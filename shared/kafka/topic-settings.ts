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
  /** For each partition; undefined: unbounded. */
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

/** Copies of a partition where no number is required, if there are as many brokers. */
export const USUAL_REPLICATION = 3;

/** Two of three replicas in sync: no acknowledged record is lost while one broker is unavailable. */
function insyncReplicas(replication: number): number {
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

export interface FoundTopic {
  partitions: number;
  /** Copies of the partition that has the fewest. */
  replicas: number;
  /** Settings by name, with the broker's defaults. */
  config: ReadonlyMap<string, string>;
}

export interface TopicFault {
  topic: string;
  /** What is and what should be, as a sentence without its subject. */
  fault: string;
  command: string;
  /** Whether a start is refused: otherwise records would be lost, wrongly matched or unreadable. */
  isFatal: boolean;
}

interface TopicCheck {
  setting: string;
  wanted: string;
  isRight: (value: string) => boolean;
  why: string;
  isFatal: boolean;
}

/** The option without which Kafka's tools do nothing. */
const SERVER = '--bootstrap-server HOST:PORT';

export interface CheckedCluster {
  /** The required number of copies; undefined: none is required. */
  replication: number | undefined;
  brokers: number;
}

export function checkTopic(
  wanted: TopicSettings,
  found: FoundTopic,
  { replication, brokers }: CheckedCluster,
): TopicFault[] {
  const { topic } = wanted;
  const faults: TopicFault[] = [];
  const usual = Math.min(USUAL_REPLICATION, brokers);
  const isFatal = found.replicas < (replication ?? 0);
  if (isFatal || found.replicas < usual) {
    faults.push({
      topic,
      fault: isFatal
        ? `has partitions with ${found.replicas} of ${replication} replicas (KAFKA_REPLICATION)`
        : `has partitions with only ${found.replicas} replicas, but ${brokers} brokers allow ${usual}: if ${found.replicas} disks fail, records are lost`,
      command: `kafka-reassign-partitions.sh ${SERVER} --reassignment-json-file FILE --execute`,
      isFatal,
    });
  }
  const wrong = checksOf(wanted, found, replication).filter(({ setting, isRight }) => {
    const value = found.config.get(setting);
    return value === undefined || !isRight(value);
  });
  for (const { setting, wanted: value, why, isFatal } of wrong) {
    faults.push({
      topic,
      fault: `has ${setting}=${found.config.get(setting) ?? '(none)'}, not ${value}: ${why}`,
      command:
        `kafka-configs.sh ${SERVER} --alter --entity-type topics --entity-name ${topic} ` +
        `--add-config ${setting}=${value}`,
      isFatal,
    });
  }
  return faults;
}

function checksOf(wanted: TopicSettings, found: FoundTopic, replication: number | undefined): TopicCheck[] {
  const insync = insyncReplicas(replication ?? found.replicas);
  const isAtLeast = (least: number) => (value: string) => Number(value) >= least;
  return [
    {
      setting: 'message.timestamp.type',
      wanted: 'LogAppendTime',
      isRight: (value) => value === 'LogAppendTime',
      why: 'producers could set the time of a record, which decides what monitors match',
      isFatal: true,
    },
    {
      setting: 'cleanup.policy',
      wanted: 'delete',
      isRight: (value) => value === 'delete',
      why: 'all except the last record of each key would be deleted',
      isFatal: true,
    },
    {
      setting: 'compression.type',
      wanted: 'producer',
      isRight: (value) => ['producer', 'uncompressed', 'gzip'].includes(value),
      why: 'the services could not read it',
      isFatal: true,
    },
    {
      setting: 'max.message.bytes',
      wanted: String(MAX_MESSAGE_BYTES),
      isRight: isAtLeast(MAX_MESSAGE_BYTES),
      why: 'large records would be refused',
      isFatal: true,
    },
    {
      setting: 'min.insync.replicas',
      wanted: String(insync),
      isRight: isAtLeast(insync),
      why: 'if one broker fails, an acknowledged record could be lost',
      isFatal: replication !== undefined,
    },
    {
      setting: 'retention.ms',
      wanted: String(wanted.retentionMs),
      isRight: (value) => Number(value) < 0 || Number(value) >= wanted.retentionMs,
      why: 'records could expire before they are read',
      isFatal: false,
    },
    {
      setting: 'retention.bytes',
      wanted: String(wanted.retentionBytes ?? -1),
      isRight: (value) => Number(value) < 0 || Number(value) >= (wanted.retentionBytes ?? Infinity),
      why: 'when there are many records, some could be deleted before they are read',
      isFatal: false,
    },
  ];
}
