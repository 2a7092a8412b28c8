import type { KafkaConnection } from './kafka-connection.ts';
import type { Subscription } from './lag-monitor.ts';

/** Offsets by topic (without the prefix) and partition, as text because they may exceed a safe integer. */
export type PartitionOffsets = Record<string, Record<string, string>>;

/** How far a group has read its topics. */
export interface GroupProgress {
  /** The offset after the last record (high watermark). */
  heads: PartitionOffsets;
  /** The group has finished every record below this offset, or it has expired. */
  finished: PartitionOffsets;
}

/** The broker did not answer; a later call may succeed. */
export class GroupProgressUnreadable extends Error {
  override name = 'GroupProgressUnreadable';
}

/** Reads how far a group is. @throws GroupProgressUnreadable */
export async function readGroupProgress(
  kafka: KafkaConnection,
  prefix: string,
  { group, topics }: Subscription,
): Promise<GroupProgress> {
  const progress: GroupProgress = { heads: {}, finished: {} };
  try {
    await kafka.withAdmin(async (admin) => {
      const names = topics.map((topic) => prefix + topic);
      // Committed offsets first: they cannot exceed heads that are read later.
      const committed = await admin.fetchOffsets({ groupId: prefix + group, topics: names });
      for (const [index, topic] of topics.entries()) {
        const offsets = await admin.fetchTopicOffsets(names[index]!);
        const commits = new Map(
          committed
            .find((one) => one.topic === names[index])
            ?.partitions.map(({ partition, offset }) => [partition, offset]),
        );
        progress.heads[topic] = Object.fromEntries(offsets.map(({ partition, high }) => [partition, high]));
        progress.finished[topic] = Object.fromEntries(
          offsets.map(({ partition, low }) => [partition, later(low, commits.get(partition) ?? low)]),
        );
      }
    });
  } catch (error) {
    throw new GroupProgressUnreadable(`cannot read from Kafka how far the group ${group} is`, { cause: error });
  }
  return progress;
}

/** Whether the group has finished every record below earlier heads. */
export function hasFinished(heads: PartitionOffsets, progress: GroupProgress): boolean {
  return Object.entries(heads).every(([topic, partitions]) =>
    Object.entries(partitions).every(([partition, head]) => {
      const now = progress.heads[topic]?.[partition];
      const finished = progress.finished[topic]?.[partition];
      // A head lower than before means that the topic was created again, and its old records are gone.
      return now !== undefined && finished !== undefined && BigInt(finished) >= earlier(head, now);
    }),
  );
}

function later(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b;
}

function earlier(a: string, b: string): bigint {
  return BigInt(a) < BigInt(b) ? BigInt(a) : BigInt(b);
}
