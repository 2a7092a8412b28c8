import { selectRows } from '../clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { REMOVED_TEXT, isRemovedText } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../postgres/sql.ts';

/** Reads the last saved position of a source, in the source's own shape; undefined when it never saved one. */
export async function readCursor(db: Queryable, source: string): Promise<unknown> {
  const row = await readRow<{ position: unknown }>(db)`SELECT position FROM crawl_cursors WHERE source = ${source}`;
  return row?.position;
}

/**
 * Saves the position of a source, unless another process has taken its lease: a process that was suspended must not
 * overwrite what its successor saved. Call it only after the broker acknowledged everything before that position.
 *
 * @returns whether it was saved
 */
export async function saveCursor(
  db: Queryable,
  cursor: { source: string; position: unknown; lease: { name: string; holder: string } },
): Promise<boolean> {
  const { source, position, lease } = cursor;
  return isChanged(db)`
    INSERT INTO crawl_cursors (source, position, updated_at)
    SELECT ${source}, ${JSON.stringify(position)}, service_now() FROM leases
    WHERE name = ${lease.name} AND holder = ${lease.holder} FOR SHARE
    ON CONFLICT (source) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at`;
}

/** An item with stored content, and its place in the order by which it is kept. */
export interface KeptItem {
  thingId: string;
  /** Milliseconds since 1970. */
  keptUntil: number;
}

/**
 * Reads items with matches in the order in which their content was stored: `kept_until` is 33 days after that, and
 * later for an item that keeps matching.
 *
 * @param page.after the last item read before
 * @param page.to only items kept until then
 */
export async function readMatchedItems(
  db: Queryable,
  page: { after: KeptItem; to: number; limit: number },
): Promise<KeptItem[]> {
  // Microseconds, as Postgres stores them: a rounded time would find the last row of a page again.
  return readRows<KeptItem>(db)`
    SELECT thing_id AS "thingId", (extract(epoch FROM kept_until) * 1000000)::float8 / 1000 AS "keptUntil"
      FROM matched_items
     WHERE (kept_until, thing_id)
           > (timestamptz 'epoch' + ${Math.round(page.after.keptUntil * 1000)}::float8 * interval '1 microsecond',
             ${page.after.thingId}::text COLLATE "C")
       AND kept_until < timestamptz 'epoch' + ${Math.round(page.to * 1000)}::float8 * interval '1 microsecond'
     ORDER BY kept_until, thing_id
     LIMIT ${page.limit}`;
}

/** The items that have stored content with an author or a text that a removal would hide. */
export async function findReadableMatches(db: Queryable, thingIds: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ thing_id: string; body: string }>(db)`
    SELECT thing_id, body FROM matched_items
     WHERE thing_id = ANY (${thingIds}::text[]) AND (body <> '' OR author <> '[deleted]')`;
  return new Set(rows.filter(({ body }) => !isRemovedText(body)).map(({ thing_id }) => thing_id));
}

/** The items that the archive has without a text that a removal would hide: removed when first or last seen. */
export async function findSeenAsRemoved(
  clickhouse: ClickHouseClient,
  thingIds: readonly string[],
  signal?: AbortSignal,
): Promise<Set<string>> {
  if (thingIds.length === 0) return new Set();
  const rows = await selectRows<{ thingId: string }>(
    clickhouse,
    `SELECT thing_id AS thingId
              FROM item_contents
             WHERE thing_id IN {ids: Array(String)}
             GROUP BY thing_id
            HAVING min(match(JSONExtractString(content, 'body'), {gone: String}))`,
    { ids: [...thingIds], gone: `(?i)${REMOVED_TEXT}` },
    { seconds: 20, signal },
  );
  return new Set(rows.map(({ thingId }) => thingId));
}

export async function findRemovedItems(db: Queryable, thingIds: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ thing_id: string }>(db)`
    SELECT thing_id FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])`;
  return new Set(rows.map(({ thing_id }) => thing_id));
}

/** Records removals, so that content written from now on is blank. The earliest time of an item is kept. */
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

/** Blanks stored content as `blankedContent` does. */
export async function blankMatchedItems(db: Queryable, thingIds: readonly string[]): Promise<void> {
  await execute(db)`
    UPDATE matched_items SET author = '[deleted]', title = '', body = ''
     WHERE thing_id IN (
       SELECT thing_id FROM matched_items
        WHERE thing_id = ANY (${thingIds}::text[]) AND (author <> '[deleted]' OR title <> '' OR body <> '')
        ORDER BY thing_id FOR UPDATE)`;
}
