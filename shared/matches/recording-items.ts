import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** Finds which of the given things have content that is kept long enough, and which the forum removed. */
export async function findKnownThings(
  db: Queryable,
  thingIds: readonly string[],
): Promise<{ kept: Set<string>; removed: Set<string> }> {
  const rows = await readRows<{ thing_id: string; removed: boolean }>(db, 'recording-find-known-things')`
    SELECT thing_id, false AS removed FROM matched_items
    WHERE thing_id = ANY (${thingIds}::text[]) AND kept_until >= (SELECT service_now()) + interval '32 days'
    UNION ALL
    SELECT thing_id, true FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])`;
  const ids = (removed: boolean) => rows.filter((row) => row.removed === removed).map((row) => row.thing_id);
  return { kept: new Set(ids(false)), removed: new Set(ids(true)) };
}

/**
 * Stores content that is not stored yet, and keeps all of it for 33 days from now: longer than any match of it (30
 * days), with room for candidates that arrive late. Stored content is not changed.
 *
 * Does not wait for the disk, nor for a standby, so that recorders that store the same things wait less for each other:
 * the commit of the first match that refers to the content waits for both, and for everything that was written before
 * it. A transaction that runs this would not wait either, so it must run in none.
 *
 * @param items sorted by thing_id, each once, so that two recorders lock the rows in the same order
 */
export async function storeItems(db: Queryable, items: readonly ItemContent[]): Promise<void> {
  await execute(db, 'recording-keep-items')`
    WITH async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO matched_items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
      created_utc, kept_until)
    SELECT item.*, (SELECT service_now()) + interval '33 days'
    FROM async_commit, unnest(${items.map((item) => item.thing_id)}::text[], ${items.map((item) => item.kind)}::text[],
      ${items.map((item) => item.post_id)}::text[], ${items.map((item) => item.parent_id)}::text[],
      ${items.map((item) => item.subreddit)}::text[], ${items.map((item) => item.author)}::text[],
      ${items.map((item) => item.title)}::text[],
      ${items.map((item) => item.body)}::text[], ${items.map((item) => item.permalink)}::text[],
        ${items.map((item) => item.nsfw)}::boolean[], ${items.map((item) => item.created_utc)}::timestamptz[]) AS item
    ON CONFLICT (thing_id) DO UPDATE SET kept_until = greatest(matched_items.kept_until, excluded.kept_until)`;
}

type ItemRow = Omit<ItemContent, 'created_utc'> & { created_utc: Date; removed: boolean };

/** Reads stored content, with whether the forum removed the thing. */
export async function readItems(
  db: Queryable,
  thingIds: readonly string[],
): Promise<{ item: ItemContent; removed: boolean }[]> {
  const rows = await readRows<ItemRow>(db, 'recording-read-items')`
    SELECT i.thing_id, i.kind, i.post_id, i.parent_id, i.subreddit, i.author, i.title, i.body, i.permalink, i.nsfw,
      i.created_utc,
      i.thing_id IN (SELECT thing_id FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])) AS removed
    FROM matched_items i
    WHERE i.thing_id = ANY (${thingIds}::text[])`;
  return rows.map(({ removed, created_utc, ...content }) => ({
    item: { ...content, created_utc: created_utc.toISOString() },
    removed,
  }));
}

/** Overwrites author, title and body of stored things. */
export async function overwriteItems(db: Queryable, items: readonly ItemContent[]): Promise<void> {
  await execute(db, 'recording-overwrite-items')`
    UPDATE matched_items i SET author = item.author, title = item.title, body = item.body
    FROM unnest(${items.map((item) => item.thing_id)}::text[], ${items.map((item) => item.author)}::text[],
      ${items.map((item) => item.title)}::text[], ${items.map((item) => item.body)}::text[]) AS item (thing_id, author,
      title, body)
    WHERE i.thing_id = item.thing_id`;
}
