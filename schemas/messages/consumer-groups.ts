/**
 * Consumer groups, without the installation's prefix. A new group reads its topics from the beginning, because every
 * record must have its effect.
 */
export const RECORDER_GROUP = 'recorder';
export const ITEMS_ARCHIVER_GROUP = 'items-archiver';
/** Deletes removed content from Postgres, and stands still for no other engine. */
export const REMOVALS_RECORDER_GROUP = 'removals-recorder';
export const REMOVALS_ARCHIVER_GROUP = 'removals-archiver';
export const MATCHES_ARCHIVER_GROUP = 'matches-archiver';
export const DELIVERIES_ARCHIVER_GROUP = 'deliveries-archiver';
export const DELIVERER_GROUP = 'deliverer';

/** The group of the matchers that hold shard number `shard`, from 1, of the monitors. Each group reads every item. */
export function matcherGroup({ shard, shards }: { shard: number; shards: number }): string {
  return shards === 1 ? 'matcher' : `matcher-${shard}-of-${shards}`;
}

export function matcherGroups(shards: number): string[] {
  return Array.from({ length: shards }, (_, index) => matcherGroup({ shard: index + 1, shards }));
}

/** The groups that read a topic, without those of live tails, which keep no place. */
export function groupsOfTopic(topic: string, shards: number): string[] {
  const items = [...matcherGroups(shards), ITEMS_ARCHIVER_GROUP];
  const groups: Readonly<Record<string, readonly string[]>> = {
    'forum.posts': items,
    'forum.comments': items,
    'forum.removals': [REMOVALS_RECORDER_GROUP, REMOVALS_ARCHIVER_GROUP],
    'monitor.candidates': [RECORDER_GROUP],
    'monitor.matches': [DELIVERER_GROUP, MATCHES_ARCHIVER_GROUP],
    'monitor.deliveries': [DELIVERIES_ARCHIVER_GROUP],
  };
  return [...(groups[topic] ?? [])];
}
