import type { z } from 'zod';
import { forumItem, forumRemoval } from './forum-item.ts';
import { candidate, deliveryAttempt, recordedMatch } from './monitor-match.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GIB = 1024 ** 3;

export interface Topic<S extends z.ZodType = z.ZodType> {
  /** Without the installation's prefix. */
  name: string;
  /** The field that is the record key. Records with the same key keep their order. */
  key: string;
  /** Change it only by the runbook: a start fails when the broker has another count. */
  partitions: { cluster: number; embedded: number };
  retentionMs: number;
  /** Limit per partition; applies only to the embedded broker. */
  embeddedRetentionBytes: number | undefined;
  /** Version that producers write. Old versions stay readable as long as their examples are in examples/. */
  version: number;
  schema: S;
}

type Defaulted = 'embeddedRetentionBytes' | 'version';

function topic<S extends z.ZodType>(declared: Omit<Topic<S>, Defaulted> & Partial<Topic<S>>): Topic<S> {
  return { embeddedRetentionBytes: undefined, version: 1, ...declared };
}

export const FORUM_POSTS = topic({
  name: 'forum.posts',
  key: 'thing_id',
  partitions: { cluster: 12, embedded: 2 },
  retentionMs: 72 * HOUR_MS,
  embeddedRetentionBytes: 2 * GIB,
  schema: forumItem,
});

export const FORUM_COMMENTS = topic({ ...FORUM_POSTS, name: 'forum.comments' });

export const FORUM_REMOVALS = topic({
  name: 'forum.removals',
  key: 'thing_id',
  partitions: { cluster: 12, embedded: 2 },
  retentionMs: 30 * DAY_MS,
  schema: forumRemoval,
});

export const MONITOR_CANDIDATES = topic({
  name: 'monitor.candidates',
  key: 'monitor_id',
  partitions: { cluster: 24, embedded: 4 },
  retentionMs: 7 * DAY_MS,
  schema: candidate,
});

export const MONITOR_MATCHES = topic({
  name: 'monitor.matches',
  key: 'monitor_id',
  partitions: { cluster: 24, embedded: 4 },
  retentionMs: 7 * DAY_MS,
  schema: recordedMatch,
});

export const MONITOR_DELIVERIES = topic({
  name: 'monitor.deliveries',
  key: 'monitor_id',
  partitions: { cluster: 12, embedded: 2 },
  retentionMs: 7 * DAY_MS,
  schema: deliveryAttempt,
});

/** All topics. Each also has a topic `<name>.dead-letter` with one partition and 30 days of retention. */
export const TOPICS: readonly Topic[] = [
  FORUM_POSTS,
  FORUM_COMMENTS,
  FORUM_REMOVALS,
  MONITOR_CANDIDATES,
  MONITOR_MATCHES,
  MONITOR_DELIVERIES,
];

export const DEAD_LETTER_SUFFIX = '.dead-letter';
export const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS;
/** Maximum size of a record batch; the publisher stays far below it. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Consumer groups, without the installation's prefix. A new group reads its topics from the beginning, because every
 * record must have its effect.
 */
export const RECORDER_GROUP = 'recorder';
export const ITEMS_ARCHIVER_GROUP = 'items-archiver';
/** Deletes removed content from Postgres, and waits for no other engine. */
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

/** The groups that read a topic, without those of live tails, which commit no offset. */
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

/**
 * Postgres channel on which the API tells the matchers that a monitor's state or rule changed. Payload: the monitor id.
 */
export const MONITOR_CHANGED_CHANNEL = 'monitor_changed';
