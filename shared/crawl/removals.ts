import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

export async function findRemovedThings(db: Queryable, thingIds: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ thing_id: string }>(db)`
    SELECT thing_id FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])`;
  return new Set(rows.map(({ thing_id }) => thing_id));
}

/** Records removals, so that content written from now on is blank. The earliest time of a thing is kept. */
export async function recordRemovals(
  db: Queryable,
  thingIds: readonly string[],
  times: readonly string[],
): Promise<void> {
  await execute(db)`
    INSERT INTO removed_things (thing_id, at)
    SELECT thing_id, min(at) FROM unnest(${thingIds}::text[], ${times}::timestamptz[]) AS r (thing_id, at)
    GROUP BY thing_id ORDER BY thing_id
    ON CONFLICT (thing_id) DO NOTHING`;
}

/** As blankedContent does. */
export async function blankMatchedItems(db: Queryable, thingIds: readonly string[]): Promise<void> {
  await execute(db)`
    UPDATE matched_items SET author = '[deleted]', title = '', body = ''
     WHERE thing_id IN (
       SELECT thing_id FROM matched_items
        WHERE thing_id = ANY (${thingIds}::text[]) AND (author <> '[deleted]' OR title <> '' OR body <> '')
        ORDER BY thing_id FOR UPDATE)`;
}
