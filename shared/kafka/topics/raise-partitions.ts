import type { KafkaConnection } from '../kafka-connection.ts';
import { consumerLag, partitionCounts } from './topic-admin.ts';

/** Why the partitions of a topic must not be raised now. */
export class NotDrained extends Error {
  override name = 'NotDrained';
}

export interface PartitionRaise {
  /** Prefix of topics and consumer groups. */
  prefix: string;
  /** Without the prefix, as the groups that read it. */
  topic: string;
  groups: readonly string[];
  partitions: number;
}

/**
 * Raises the number of partitions of a topic. A key may get another partition by that, so it is refused unless every
 * group has read the whole topic and no process of the installation is connected to a group: then what a key has so far
 * has had its effect before anything that is published under the new number, and the order per key is kept.
 *
 * @returns the number of partitions before
 * @throws NotDrained that says what is still to be done
 */
export async function raisePartitions(kafka: KafkaConnection, raise: PartitionRaise): Promise<number> {
  const { prefix, topic, groups, partitions } = raise;
  const before = (await partitionCounts(kafka, [prefix + topic])).get(prefix + topic) ?? 0;
  if (partitions <= before) throw new NotDrained(`${topic} has ${before} partitions: they can only become more`);
  for (const group of groups) {
    const lag = (await consumerLag(kafka, { prefix, group, topics: [topic] })).reduce((sum, one) => sum + one.lag, 0);
    if (lag > 0) throw new NotDrained(`${group} has ${lag} records of ${topic} before it: let it read them first`);
  }
  const connected = await connectedGroups(kafka, prefix);
  if (connected.length > 0) {
    throw new NotDrained(`processes are connected to the groups ${connected.join(', ')}: stop all services first`);
  }
  await kafka.withAdmin((admin) =>
    admin.createPartitions({ topicPartitions: [{ topic: prefix + topic, count: partitions }] }),
  );
  return before;
}

/** The groups of an installation that have members, so that a process runs, without the prefix. */
export async function connectedGroups(kafka: KafkaConnection, prefix: string): Promise<string[]> {
  return kafka.withAdmin(async (admin) => {
    const { groups } = await admin.listGroups();
    const ids = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
    if (ids.length === 0) return [];
    const described = await admin.describeGroups(ids);
    return described.groups
      .filter(({ members }) => members.length > 0)
      .map(({ groupId }) => groupId.slice(prefix.length));
  });
}
