import {
  DELIVERIES_ARCHIVER_GROUP,
  ITEMS_ARCHIVER_GROUP,
  MATCHES_ARCHIVER_GROUP,
} from '../../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { insertItems, attemptRow, matchRow } from '../../shared/stores/archive/archive-rows.ts';
import { archiveRemovals, blankMatches } from './archive-removals.ts';
import type { ArchiverDeps } from './archive-topic.ts';
import type { ArchiveRow } from '../../shared/stores/archive/archive-rows.ts';
import { archiveTopic } from './archive-topic.ts';

/**
 * Copies items, matches and delivery attempts into ClickHouse, and deletes the content of things that the forum removed
 * from ClickHouse and Postgres. See the README of this folder.
 *
 * @param deps `archiveReady` resolves with true once ClickHouse may be written to, or with false when it never will be;
 *   Postgres is rid of removed content before that
 * @returns `started` resolves when all has started that will be
 */
export async function startArchiver({
  archiveReady,
  ...given
}: ArchiverDeps & { archiveReady: Promise<boolean> }): Promise<
  Running & Pick<BatchConsumer, 'ready' | 'isHalted'> & { started: Promise<boolean> }
> {
  const deps = { ...given, logger: given.logger.child({ service: 'archiver' }) };
  const consumers = [await blankMatches(deps)];
  let isArchiving = false;
  const started = archiveReady.then(async (isReady) => {
    if (isReady) consumers.push(...(await startArchiving(deps)));
    isArchiving = isReady;
    return isReady;
  });
  started.catch(deps.fatal);
  return {
    started,
    ready: () => isArchiving && consumers.every((consumer) => consumer.ready()),
    isHalted: () => consumers.some((consumer) => consumer.isHalted()),
    async stop() {
      await started;
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}

function startArchiving(deps: ArchiverDeps): Promise<BatchConsumer[]> {
  const insert = async (table: string, values: ArchiveRow[]): Promise<void> => {
    await deps.clickhouse.insert({ table, values, format: 'JSONEachRow' });
  };
  return Promise.all([
    archiveTopic(deps, {
      group: ITEMS_ARCHIVER_GROUP,
      topics: [FORUM_POSTS, FORUM_COMMENTS],
      table: 'items',
      insert: (items) => insertItems(deps.pool, deps.clickhouse, items),
    }),
    archiveTopic(deps, {
      group: MATCHES_ARCHIVER_GROUP,
      topics: [MONITOR_MATCHES],
      table: 'matches',
      insert: (matches) => insert('matches', matches.map(matchRow)),
    }),
    archiveTopic(deps, {
      group: DELIVERIES_ARCHIVER_GROUP,
      topics: [MONITOR_DELIVERIES],
      table: 'delivery_attempts',
      insert: (attempts) => insert('delivery_attempts', attempts.map(attemptRow)),
    }),
    archiveRemovals(deps),
  ]);
}
