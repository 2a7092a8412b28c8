import type { z } from 'zod';
import {
  DELIVERIES_ARCHIVER_GROUP,
  FORUM_COMMENTS,
  FORUM_POSTS,
  FORUM_REMOVALS,
  ITEMS_ARCHIVER_GROUP,
  MATCHES_ARCHIVER_GROUP,
  MONITOR_DELIVERIES,
  MONITOR_MATCHES,
  REMOVALS_ARCHIVER_GROUP,
  REMOVALS_RECORDER_GROUP,
} from '../../schemas/messages/topics.ts';
import type { Topic } from '../../schemas/messages/topics.ts';
import { attemptRow, insertItems, matchRow } from '../../shared/archive/archive-rows.ts';
import type { ArchiveRow } from '../../shared/archive/archive-rows.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { blankMatchedItems, recordRemovals } from '../../shared/crawl/crawl-cursors.ts';
import { noteLostRecords } from '../../shared/crawl/lost-records.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumerDeps } from '../../shared/kafka/batch-runner.ts';
import { parseRecords } from '../../shared/kafka/consumed-batch.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

export interface ArchiverDeps {
  kafka: KafkaConnection;
  publisher: Publisher;
  prefix: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}

/**
 * Copies items, matches and delivery attempts into ClickHouse, and deletes the content of items that the forum removed
 * from ClickHouse and Postgres. See the README of this folder.
 *
 * @param deps `archiveReady` resolves with true once ClickHouse may be written to, or with false when it never will be;
 *   removed content is deleted from Postgres before that
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

/**
 * ClickHouse works for each insert, and again when it merges the new part. At 150 items a second two archivers inserted
 * five times a second, which took ClickHouse 0.38 cores; since the broker gathers it takes 0.25 (`bench -- soak`).
 */
const ROWS_GATHER = { bytes: 1024 * 1024, ms: 1_000 };
const ROWS_PER_INSERT = 5_000;

interface Archive<S extends z.ZodType> {
  group: string;
  topics: readonly Topic<S>[];
  table: string;
  /** Resolves when ClickHouse acknowledged the values. Must be harmless to repeat. */
  insert: (values: z.output<S>[]) => Promise<void>;
}

/**
 * Copies topics into a ClickHouse table.
 *
 * Before: the crawler, the recorder or the deliverer published the messages. Steps:
 * 1. The partitions of one answer to a fetch share an insert, and so do those that come while one is under way.
 * 2. ClickHouse acknowledges the insert.
 * 3. The consumer commits the offsets. A crash before this inserts the same rows again; ReplacingMergeTree keeps one
 *    row per key.
 */
function archiveTopic<S extends z.ZodType>(
  deps: ArchiverDeps,
  { group, topics, table, insert }: Archive<S>,
): Promise<BatchConsumer> {
  const first = topics[0]!;
  const inserts = new CallBatcher<z.output<S>[], undefined>({
    run: async (groups) => {
      const values = groups.flat();
      const stopTimer = deps.metrics.archiverFlushSeconds.startTimer({ table });
      await insert(values);
      stopTimer();
      deps.metrics.archiverRows.inc({ table }, values.length);
      return groups.map(() => undefined);
    },
    sizeOf: (values) => values.length,
    maxGroup: ROWS_PER_INSERT,
    maxRunning: 1,
  });
  return consume(deps, {
    group,
    topics: topics.map(({ name }) => name),
    // The handlers of all partitions may wait for the shared insert at the same time.
    partitionsConcurrently: topics.reduce((sum, { partitions }) => sum + partitions.cluster, 0),
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(first.schema, batch);
      if (parsed.length > 0) await inserts.call(parsed.map(({ value }) => value));
      return { poison };
    },
    gather: ROWS_GATHER,
  });
}

/** The ids are sent in the URL of the ClickHouse request. Some servers limit URLs to 16 KB; 500 × 25 bytes fit. */
const MAX_REMOVALS = 500;
/** Removals come one by one, and each statement writes a part of every table that holds items. */
const REMOVALS_GATHER = { bytes: 256 * 1024, ms: 2_000 };

type RemovalDeps = Omit<ArchiverDeps, 'clickhouse'>;

/**
 * Consumes forum.removals and deletes the content of removed items from Postgres. It does not wait for ClickHouse, so
 * that pages, feeds and webhooks show nothing removed while that is unavailable.
 *
 * Before: the crawler published the removal. Steps, each harmless when a crash repeats it:
 * 1. Insert rows into removed_things, so that every later writer of the content writes it blank.
 * 2. Blank the content of matches (matched_items).
 * After: the consumer commits the offsets.
 */
function blankMatches(deps: RemovalDeps): Promise<BatchConsumer> {
  return consumeRemovals(deps, REMOVALS_RECORDER_GROUP, (ids) => blankMatchedItems(deps.pool, ids));
}

/**
 * Consumes forum.removals and deletes the content of removed items from ClickHouse.
 *
 * Before: the crawler published the removal. Steps, each harmless when a crash repeats it:
 * 1. Insert the rows of removed_things that `blankMatches` inserts too: whoever archives an item during step 2 then
 *    finds them (`insertItems`), whichever of the two groups is ahead.
 * 2. Insert a blank newer version of each archived row.
 * After: the consumer commits the offsets.
 */
function archiveRemovals(deps: ArchiverDeps): Promise<BatchConsumer> {
  return consumeRemovals(deps, REMOVALS_ARCHIVER_GROUP, (ids) => blankArchivedItems(deps.clickhouse, ids));
}

function consumeRemovals(
  deps: RemovalDeps,
  group: string,
  blank: (ids: string[]) => Promise<void>,
): Promise<BatchConsumer> {
  return consume(deps, {
    group,
    topics: [FORUM_REMOVALS.name],
    maxRecords: MAX_REMOVALS,
    gather: REMOVALS_GATHER,
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(FORUM_REMOVALS.schema, batch);
      const ids = parsed.map(({ value }) => value.thing_id);
      const times = parsed.map(({ value }) => value.removed_at);
      await recordRemovals(deps.pool, ids, times);
      await blank(ids);
      return { poison };
    },
  });
}

function consume(
  deps: RemovalDeps,
  consumer: Pick<BatchConsumerDeps, 'group' | 'topics' | 'handle' | 'gather' | 'maxRecords' | 'partitionsConcurrently'>,
): Promise<BatchConsumer> {
  const { kafka, prefix, publisher, pool, metrics, logger, fatal } = deps;
  return startBatchConsumer({
    ...consumer,
    deadLetters: new DeadLetters({ publisher, group: consumer.group, metrics, logger }),
    noteLost: (lost) => noteLostRecords(pool, lost),
    ...{ kafka, prefix, fatal, metrics, logger },
  });
}

/**
 * Inserts a blank version of each stored row, one per day: ClickHouse merges and expires each day's partition on its
 * own, so the content must be replaced in each. Columns are selected without aliases, because ClickHouse would also use
 * an alias named like a column in WHERE.
 */
async function blankArchivedItems(clickhouse: ClickHouseClient, ids: string[]): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, url,
                   permalink, nsfw, score, num_comments, source, created_utc, first_seen_at, ver, words, post_title_words,
                   language)
            SELECT thing_id, kind, post_id, parent_id, subreddit, '[deleted]', '', '', '',
                   permalink, nsfw, score, num_comments, source, created_utc, first_seen_at, 2, '', '', language
              FROM items
             WHERE thing_id IN {ids: Array(String)} AND ver < 2
             LIMIT 1 BY thing_id, toYYYYMMDD(first_seen_at)`,
    query_params: { ids },
  });
}
