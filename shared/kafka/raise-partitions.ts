import type { Admin } from 'kafkajs';
import type { KafkaConnection } from './kafka-connection.ts';
import { groupPositions, lagOf, partitionCounts } from './topic-admin.ts';

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
 * Refused unless every group has read the whole topic and no process is connected: a key may get another partition, and
 * what it has so far must have had its effect before.
 *
 * @returns the number of partitions before
 * @throws NotDrained that says what is still to be done
 */
export async function raisePartitions(kafka: KafkaConnection, raise: PartitionRaise): Promise<number> {
  const { prefix, topic, groups, partitions } = raise;
  const before = (await partitionCounts(kafka, [prefix + topic])).get(prefix + topic) ?? 0;
  if (partitions <= before) throw new NotDrained(`${topic} has ${before} partitions; the number can only be raised`);
  for (const group of groups) {
    const lag = lagOf(await groupPositions(kafka, { prefix, group, topics: [topic] }));
    if (lag > 0) throw new NotDrained(`${group} has not read ${lag} records of ${topic} yet; let it read them first`);
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

interface GroupRewind {
  /** Prefix of topic and group, which are given without it. */
  prefix: string;
  group: string;
  topic: string;
  /** Milliseconds since 1970: the group reads again what was appended from then on. */
  toMs: number;
}

/**
 * Sets a group without members back to a time, where it is further. One that never committed begins at the oldest
 * record anyway.
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

interface HandOver {
  /** Prefix of topics and groups, which are given without it. */
  prefix: string;
  topics: readonly string[];
  /** Groups without members. */
  from: readonly string[];
  to: readonly string[];
  /** The offset at which another group must begin, given what a group has committed. */
  beginOf: (committed: { offset: bigint; metadata: string }) => bigint;
}

type Positions = Map<string, { partition: number; offset: string }[]>;

/**
 * Lets groups begin where the slowest of other groups is. A partition of which one of these has read nothing is left
 * out: a new group begins with its oldest record.
 *
 * @returns the number of partitions that were set; 0: the old groups have read nothing
 */
export function handOverGroups(
  kafka: KafkaConnection,
  { prefix, topics, from, to, beginOf }: HandOver,
): Promise<number> {
  const names = topics.map((topic) => prefix + topic);
  return kafka.withAdmin(async (admin) => {
    const positions = await slowestPositions(admin, {
      groups: from.map((group) => prefix + group),
      topics: names,
      beginOf,
    });
    for (const group of to) {
      for (const [topic, partitions] of positions) {
        await admin.setOffsets({ groupId: prefix + group, topic, partitions });
      }
    }
    return [...positions.values()].flat().length;
  });
}

async function slowestPositions(
  admin: Admin,
  { groups, topics, beginOf }: { groups: readonly string[]; topics: string[]; beginOf: HandOver['beginOf'] },
): Promise<Positions> {
  const begun = new Map<string, bigint[]>();
  for (const groupId of groups) {
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics })) {
      for (const { partition, offset, metadata } of partitions) {
        const position = `${topic} ${partition}`;
        const begin = beginOf({ offset: BigInt(offset), metadata: metadata ?? '' });
        begun.set(position, [...(begun.get(position) ?? []), begin]);
      }
    }
  }
  const positions: Positions = new Map();
  for (const [position, begins] of begun) {
    const [topic = '', partition] = position.split(' ');
    const slowest = begins.reduce((a, b) => (a < b ? a : b));
    // -1: never committed.
    if (slowest < 0n) continue;
    positions.set(topic, [...(positions.get(topic) ?? []), { partition: Number(partition), offset: String(slowest) }]);
  }
  return positions;
}
