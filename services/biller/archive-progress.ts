import { DELIVERIES_ARCHIVER_GROUP, MATCHES_ARCHIVER_GROUP } from '../../schemas/messages/consumer-groups.ts';
import { MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { TopicOffsets } from '../../shared/stores/upkeep/erasure.ts';

/** The topics whose archived rows belong to a monitor, and the consumer groups that archive them. */
const ARCHIVED = [
  { topic: MONITOR_MATCHES.name, group: MATCHES_ARCHIVER_GROUP },
  { topic: MONITOR_DELIVERIES.name, group: DELIVERIES_ARCHIVER_GROUP },
];

/** The broker did not answer; a later call may succeed. */
export class TopicsUnreadable extends Error {
  override name = 'TopicsUnreadable';
}

export interface ArchiveProgress {
  /** By topic and partition: the offset after the last record (high watermark). */
  heads: TopicOffsets;
  /** By topic and partition: every record below this offset is in the archive or has expired. */
  archived: TopicOffsets;
}

/**
 * Reads how far the topics with matches and attempts go now, and how far they are archived.
 *
 * @throws {TopicsUnreadable} when the broker does not answer
 */
export async function readArchiveProgress(kafka: KafkaConnection, prefix: string): Promise<ArchiveProgress> {
  const progress: ArchiveProgress = { heads: {}, archived: {} };
  try {
    await kafka.withAdmin(async (admin) => {
      for (const { topic, group } of ARCHIVED) {
        const name = prefix + topic;
        // Committed offsets first: they cannot exceed heads that are read later.
        const [committed] = await admin.fetchOffsets({ groupId: prefix + group, topics: [name] });
        const offsets = await admin.fetchTopicOffsets(name);
        const commits = new Map(committed?.partitions.map(({ partition, offset }) => [partition, offset]));
        progress.heads[topic] = Object.fromEntries(offsets.map(({ partition, high }) => [partition, high]));
        progress.archived[topic] = Object.fromEntries(
          offsets.map(({ partition, low }) => [partition, later(low, commits.get(partition) ?? low)]),
        );
      }
    });
  } catch (error) {
    throw new TopicsUnreadable('cannot read the offsets of the archived topics from Kafka', { cause: error });
  }
  return progress;
}

/** Returns whether every record below the earlier `heads` is in the archive or has expired. */
export function isArchivedUpTo(heads: TopicOffsets, progress: ArchiveProgress): boolean {
  return Object.entries(heads).every(([topic, partitions]) =>
    Object.entries(partitions).every(([partition, head]) => {
      const now = progress.heads[topic]?.[partition];
      const archived = progress.archived[topic]?.[partition];
      // A head lower than before means that the topic was created again, and its old records are gone.
      return now !== undefined && archived !== undefined && BigInt(archived) >= earlier(head, now);
    }),
  );
}

function later(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b;
}

function earlier(a: string, b: string): bigint {
  return BigInt(a) < BigInt(b) ? BigInt(a) : BigInt(b);
}
