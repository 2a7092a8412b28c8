import type { z } from 'zod';
import { candidate } from './candidate.ts';
import { deliveryAttempt } from './delivery-attempt.ts';
import { forumItem, forumRemoval } from './forum-item.ts';
import { recordedMatch } from './monitor-match.ts';

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
