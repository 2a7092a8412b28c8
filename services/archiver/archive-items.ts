import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { findRemovedThings } from '../../shared/stores/crawl/removals.ts';
import { itemRow } from './archive-rows.ts';

/**
 * Inserts items; those that the forum removed are blank. A removal first notes the thing, then blanks what is archived;
 * this first archives, then looks at what is noted: so one of the two always sees the other. Steps, all harmless when
 * repeated:
 * 1. look removals up, so that removed content is not even written; 2. insert; 3. look again, and blank what was
 *    overtaken.
 */
export async function insertItems(db: Queryable, clickhouse: ClickHouseClient, items: ForumItem[]): Promise<void> {
  const ids = [...new Set(items.map(({ thing_id }) => thing_id))];
  const insert = (values: ReturnType<typeof itemRow>[]) =>
    clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
  const removed = await findRemovedThings(db, ids);
  await insert(items.map((item) => itemRow(item, removed.has(item.thing_id))));
  const removedNow = await findRemovedThings(db, ids);
  const overtaken = items.filter(({ thing_id }) => removedNow.has(thing_id) && !removed.has(thing_id));
  if (overtaken.length > 0) await insert(overtaken.map((item) => itemRow(item, true)));
}
