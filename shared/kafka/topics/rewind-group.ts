import type { KafkaConnection } from '../kafka-connection.ts';

export interface GroupRewind {
  /** Prefix of topic and group, which are given without it. */
  prefix: string;
  group: string;
  topic: string;
  /** Milliseconds since 1970: the group reads again what was appended from then on. */
  toMs: number;
}

/**
 * Sets a group that has no members back to a time, where it is further. A group that never committed stays so: it
 * begins at the oldest record anyway; a topic that does not exist has none.
 *
 * @returns how many records it will read again
 */
export function rewindGroup(kafka: KafkaConnection, { prefix, group, topic, toMs }: GroupRewind): Promise<number> {
  const groupId = prefix + group;
  return kafka.withAdmin(async (admin) => {
    if (!(await admin.listTopics()).includes(prefix + topic)) return 0;
    const then = new Map<number, bigint>();
    for (const { partition, offset } of await admin.fetchTopicOffsetsByTimestamp(prefix + topic, toMs)) {
      then.set(partition, BigInt(offset));
    }
    const [committed] = await admin.fetchOffsets({ groupId, topics: [prefix + topic] });
    const partitions: { partition: number; offset: string }[] = [];
    let records = 0n;
    for (const { partition, offset } of committed?.partitions ?? []) {
      const [next, earlier] = [BigInt(offset), then.get(partition) ?? -1n];
      if (earlier < 0n || next <= earlier) continue;
      partitions.push({ partition, offset: String(earlier) });
      records += next - earlier;
    }
    if (partitions.length > 0) await admin.setOffsets({ groupId, topic: prefix + topic, partitions });
    return Number(records);
  });
}
