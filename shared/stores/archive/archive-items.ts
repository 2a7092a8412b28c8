import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { findRemovedThings } from '../crawl/removals.ts';
import { itemRow } from './archive-rows.ts';

/**
 * Inserts items into ClickHouse; items that the forum removed are inserted blank.
 *
 * A removal first inserts a row into removed_things, then blanks the archive. This function first inserts, then reads
 * removed_things again, so at least one of the two always sees the other. Steps, each harmless when a crash repeats it:
 * 1. Read removed_things, so that removed content is not written.
 * 2. Insert.
 * 3. Read removed_things again and insert blank rows for items that were removed during the insert.
 *
 * Before: `archiveTopic` collected items of forum.posts and forum.comments. After: it commits their offsets.
 */
export async function insertItems(db: Queryable, clickhouse: ClickHouseClient, items: ForumItem[]): Promise<void> {
  const ids = [...new Set(items.map(({ thing_id }) => thing_id))];
  const insert = (values: ReturnType<typeof itemRow>[]) =>
    clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
  const removed = await findRemovedThings(db, ids);
  await insert(items.map((item) => itemRow(item, removed.has(item.thing_id))));
  const removedNow = await findRemovedThings(db, ids);
  const removedMeanwhile = items.filter(({ thing_id }) => removedNow.has(thing_id) && !removed.has(thing_id));
  if (removedMeanwhile.length > 0) await insert(removedMeanwhile.map((item) => itemRow(item, true)));
}
