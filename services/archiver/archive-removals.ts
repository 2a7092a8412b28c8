import { REMOVALS_ARCHIVER_GROUP, REMOVALS_RECORDER_GROUP } from '../../schemas/messages/consumer-groups.ts';
import { FORUM_REMOVALS } from '../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import { blankMatchedItems, recordRemovals } from '../../shared/stores/crawl/removals.ts';
import { noteLostRecords } from '../../shared/stores/crawl/lost-records.ts';
import type { ArchiverDeps } from './archive-topic.ts';

/** The ids are sent in the URL of the ClickHouse request. Some servers limit URLs to 16 KB; 500 × 25 bytes fit. */
const MAX_REMOVALS = 500;
/** Removals come one by one, and each statement writes a part of every table that holds items. */
const GATHER = { bytes: 256 * 1024, ms: 2_000 };

type RemovalDeps = Omit<ArchiverDeps, 'clickhouse'>;

/**
 * Consumes forum.removals and deletes the content of removed things from Postgres. It does not wait for ClickHouse, so
 * that pages, feeds and webhooks show nothing removed while that is away.
 *
 * Before: the crawler published the removal. Steps, each harmless when a crash repeats it:
 * 1. Insert rows into removed_things, so that every later writer of the content writes it blank.
 * 2. Blank the content of matches (matched_items).
 * After: the consumer commits the offsets.
 */
export function blankMatches(deps: RemovalDeps): Promise<BatchConsumer> {
  return consumeRemovals(deps, REMOVALS_RECORDER_GROUP, (ids) => blankMatchedItems(deps.pool, ids));
}

/**
 * Consumes forum.removals and deletes the content of removed things from ClickHouse.
 *
 * Before: the crawler published the removal. Steps, each harmless when a crash repeats it:
 * 1. Insert the rows of removed_things that `blankMatches` inserts too: whoever archives a thing during step 2 then
 *    finds them (`insertItems`), whichever of the two groups is ahead.
 * 2. Insert a blank newer version of each archived row.
 * After: the consumer commits the offsets.
 */
export function archiveRemovals(deps: ArchiverDeps): Promise<BatchConsumer> {
  return consumeRemovals(deps, REMOVALS_ARCHIVER_GROUP, (ids) => blankArchivedItems(deps.clickhouse, ids));
}

function consumeRemovals(
  { kafka, prefix, publisher, pool, metrics, logger, fatal }: RemovalDeps,
  group: string,
  blank: (ids: string[]) => Promise<void>,
): Promise<BatchConsumer> {
  return startBatchConsumer({
    kafka,
    prefix,
    group,
    topics: [FORUM_REMOVALS.name],
    maxRecords: MAX_REMOVALS,
    gather: GATHER,
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(FORUM_REMOVALS.schema, batch);
      const ids = parsed.map(({ value }) => value.thing_id);
      const times = parsed.map(({ value }) => value.removed_at);
      await recordRemovals(pool, ids, times);
      await blank(ids);
      return { poison };
    },
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    noteLost: (lost) => noteLostRecords(pool, lost),
    fatal,
    metrics,
    logger,
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
