import {
  DELIVERIES_ARCHIVER_GROUP,
  ITEMS_ARCHIVER_GROUP,
  MATCHES_ARCHIVER_GROUP,
} from '../../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { insertItems } from '../../shared/stores/archive/archive-items.ts';
import { archiveRemovals } from './archive-removals.ts';
import type { ArchiverDeps } from './archiver-deps.ts';
import { attemptRow, matchRow } from '../../shared/stores/archive/archive-rows.ts';
import type { ArchiveRow } from '../../shared/stores/archive/archive-rows.ts';
import { archiveTopic } from './archive-topic.ts';

/**
 * Copies items, matches and delivery attempts into ClickHouse, and deletes the content of things that the forum removed
 * from ClickHouse and Postgres. See the README of this folder.
 */
export async function startArchiver(deps: ArchiverDeps): Promise<Running & { ready(): boolean }> {
  const archiverDeps = { ...deps, logger: deps.logger.child({ service: 'archiver' }) };
  const insert = async (table: string, values: ArchiveRow[]): Promise<void> => {
    await deps.clickhouse.insert({ table, values, format: 'JSONEachRow' });
  };
  const consumers = await Promise.all([
    archiveTopic(archiverDeps, {
      group: ITEMS_ARCHIVER_GROUP,
      topics: [FORUM_POSTS, FORUM_COMMENTS],
      table: 'items',
      insert: (items) => insertItems(deps.pool, deps.clickhouse, items),
    }),
    archiveTopic(archiverDeps, {
      group: MATCHES_ARCHIVER_GROUP,
      topics: [MONITOR_MATCHES],
      table: 'matches',
      insert: (matches) => insert('matches', matches.map(matchRow)),
    }),
    archiveTopic(archiverDeps, {
      group: DELIVERIES_ARCHIVER_GROUP,
      topics: [MONITOR_DELIVERIES],
      table: 'delivery_attempts',
      insert: (attempts) => insert('delivery_attempts', attempts.map(attemptRow)),
    }),
    archiveRemovals(archiverDeps),
  ]);
  return {
    ready: () => consumers.every((consumer) => consumer.ready()),
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
