import type { Queryable } from '../postgres/pool.ts';
import { isChanged, readRow } from '../postgres/sql.ts';

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
