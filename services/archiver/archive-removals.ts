import { REMOVALS_ARCHIVER_GROUP } from '../../schemas/messages/consumer-groups.ts';
import { FORUM_REMOVALS } from '../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import { blankMatchedItems, recordRemovals } from '../../shared/stores/crawl/removals.ts';
import type { ArchiverDeps } from './archiver-deps.ts';

/** The ids travel in ClickHouse's URL, which servers bound (some at 16 KB): 500 × 25 bytes. */
const MAX_REMOVALS = 500;

/**
 * What the forum removed loses its content here too. Steps, each harmless when repeated: 1. the removal is noted, so
 * that whoever writes the content from now on writes it blank; 2. what the matches show is blanked; 3. the archive's
 * row gets a blank successor.
 */
export function archiveRemovals(deps: ArchiverDeps): Promise<BatchConsumer> {
  const { kafka, prefix, publisher, clickhouse, pool, metrics, logger, fatal } = deps;
  return startBatchConsumer({
    kafka,
    prefix,
    group: REMOVALS_ARCHIVER_GROUP,
    topics: [FORUM_REMOVALS.name],
    maxRecords: MAX_REMOVALS,
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(FORUM_REMOVALS.schema, batch);
      const ids = parsed.map(({ value }) => value.thing_id);
      const times = parsed.map(({ value }) => value.removed_at);
      await recordRemovals(pool, ids, times);
      await blankMatchedItems(pool, ids);
      await blankArchivedItems(clickhouse, ids);
      return { poison };
    },
    deadLetters: new DeadLetters({ publisher, group: REMOVALS_ARCHIVER_GROUP, metrics, logger }),
    fatal,
    metrics,
    logger,
  });
}

/**
 * A blank twin for each stored row, by day and not only for the newest: partitions are merged and expire one by one, so
 * what was said must be replaced in each. Columns go by position, without aliases: an alias that is a column's name
 * would stand for it in WHERE as well.
 */
async function blankArchivedItems(clickhouse: ClickHouseClient, ids: string[]): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO items
            SELECT thing_id, kind, post_id, parent_id, subreddit, '[deleted]', '', '', '',
                   permalink, nsfw, score, num_comments, source, created_utc, first_seen_at, 2, ''
              FROM items
             WHERE thing_id IN {ids: Array(String)} AND ver < 2
             LIMIT 1 BY thing_id, toYYYYMMDD(first_seen_at)`,
    query_params: { ids },
  });
}
