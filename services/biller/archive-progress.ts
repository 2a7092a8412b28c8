import { DELIVERIES_ARCHIVER_GROUP, MATCHES_ARCHIVER_GROUP } from '../../schemas/messages/consumer-groups.ts';
import { MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { TopicOffsets } from '../../shared/stores/upkeep/erasure.ts';

/** What the archive holds by monitor, and who writes it. */
const ARCHIVED = [
  { topic: MONITOR_MATCHES.name, group: MATCHES_ARCHIVER_GROUP },
  { topic: MONITOR_DELIVERIES.name, group: DELIVERIES_ARCHIVER_GROUP },
];

/** The broker did not answer; asking again later may help. */
export class TopicsUnreadable extends Error {
  override name = 'TopicsUnreadable';
}

export interface ArchiveProgress {
  /** Behind the last record. */
  heads: TopicOffsets;
  /** Records below are in the archive, or expired unread. */
  archived: TopicOffsets;
}

/** How far the topics with matches and attempts go now, and how far they are archived. @throws TopicsUnreadable */
export async function readArchiveProgress(kafka: KafkaConnection, prefix: string): Promise<ArchiveProgress> {
  const progress: ArchiveProgress = { heads: {}, archived: {} };
  try {
    await kafka.withAdmin(async (admin) => {
      for (const { topic, group } of ARCHIVED) {
        const name = prefix + topic;
        // In this order: what is committed by now lies below the heads read afterwards.
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
    throw new TopicsUnreadable('the offsets of the archive cannot be read', { cause: error });
  }
  return progress;
}

/** Whether everything below `heads`, as read at some earlier time, is in the archive or gone. */
export function isArchivedUpTo(heads: TopicOffsets, progress: ArchiveProgress): boolean {
  return Object.entries(heads).every(([topic, partitions]) =>
    Object.entries(partitions).every(([partition, head]) => {
      const now = progress.heads[topic]?.[partition];
      const archived = progress.archived[topic]?.[partition];
      // A topic that is shorter now was made anew: what it held then is gone.
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
