import type { KafkaConnection } from './kafka-connection.ts';
import type { Subscription } from './lag-monitor.ts';
import { readGroupPositions } from './topic-admin.ts';

/** Offsets by topic (without the prefix) and partition, as text because they may exceed a safe integer. */
export type PartitionOffsets = Record<string, Record<string, string>>;

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

export async function readGroupProgress(
  kafka: KafkaConnection,
  prefix: string,
  { group, topics }: Subscription,
): Promise<GroupProgress> {
  try {
    const positions = await kafka.withAdmin((admin) => readGroupPositions(admin, { prefix, group, topics }));
    const progress: GroupProgress = { heads: {}, finished: {} };
    for (const { topic, partition, next, head } of positions) {
      (progress.heads[topic] ??= {})[partition] = String(head);
      (progress.finished[topic] ??= {})[partition] = String(next);
    }
    return progress;
  } catch (error) {
    throw new GroupProgressUnreadable(`cannot read from Kafka how far the group ${group} is`, { cause: error });
  }
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

function earlier(a: string, b: string): bigint {
  return BigInt(a) < BigInt(b) ? BigInt(a) : BigInt(b);
}
