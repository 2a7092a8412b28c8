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
