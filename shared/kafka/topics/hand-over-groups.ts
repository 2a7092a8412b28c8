import type { Admin } from 'kafkajs';
import type { KafkaConnection } from '../kafka-connection.ts';

export interface HandOver {
  /** Prefix of topics and groups, which are given without it. */
  prefix: string;
  topics: readonly string[];
  /** Groups without members. */
  from: readonly string[];
  to: readonly string[];
  /** The offset at which another group must begin, given what a group has committed. */
  beginOf: (committed: { offset: bigint; metadata: string }) => bigint;
}

type Places = Map<string, { partition: number; offset: string }[]>;

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
    const places = await slowestPlaces(admin, { groups: from.map((group) => prefix + group), topics: names, beginOf });
    for (const group of to) {
      for (const [topic, partitions] of places) {
        await admin.setOffsets({ groupId: prefix + group, topic, partitions });
      }
    }
    return [...places.values()].flat().length;
  });
}

async function slowestPlaces(
  admin: Admin,
  { groups, topics, beginOf }: { groups: readonly string[]; topics: string[]; beginOf: HandOver['beginOf'] },
): Promise<Places> {
  const begun = new Map<string, bigint[]>();
  for (const groupId of groups) {
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics })) {
      for (const { partition, offset, metadata } of partitions) {
        const place = `${topic} ${partition}`;
        const begin = beginOf({ offset: BigInt(offset), metadata: metadata ?? '' });
        begun.set(place, [...(begun.get(place) ?? []), begin]);
      }
    }
  }
  const places: Places = new Map();
  for (const [place, begins] of begun) {
    const [topic = '', partition] = place.split(' ');
    const slowest = begins.reduce((a, b) => (a < b ? a : b));
    // -1: never committed.
    if (slowest < 0n) continue;
    places.set(topic, [...(places.get(topic) ?? []), { partition: Number(partition), offset: String(slowest) }]);
  }
  return places;
}
