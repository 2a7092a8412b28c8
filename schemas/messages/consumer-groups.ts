/**
 * Consumer groups, without the installation's prefix. A new group reads its topics from the beginning, because every
 * record must have its effect.
 */
export const MATCHER_GROUP = 'matcher';
export const RECORDER_GROUP = 'recorder';
export const ITEMS_ARCHIVER_GROUP = 'items-archiver';
export const REMOVALS_ARCHIVER_GROUP = 'removals-archiver';
export const MATCHES_ARCHIVER_GROUP = 'matches-archiver';
export const DELIVERIES_ARCHIVER_GROUP = 'deliveries-archiver';
export const DELIVERER_GROUP = 'deliverer';

/** The groups that read each topic, by its name. Live tails are not among them: they keep no place. */
export const GROUPS_OF_TOPIC: Readonly<Record<string, readonly string[]>> = {
  'forum.posts': [MATCHER_GROUP, ITEMS_ARCHIVER_GROUP],
  'forum.comments': [MATCHER_GROUP, ITEMS_ARCHIVER_GROUP],
  'forum.removals': [REMOVALS_ARCHIVER_GROUP],
  'monitor.candidates': [RECORDER_GROUP],
  'monitor.matches': [DELIVERER_GROUP, MATCHES_ARCHIVER_GROUP],
  'monitor.deliveries': [DELIVERIES_ARCHIVER_GROUP],
};
