import type { Queryable } from '../../postgres/pool.ts';

/** Reads the last saved position of a source, in the source's own shape; undefined when it never saved one. */
export async function readCursor(db: Queryable, source: string): Promise<unknown> {
  const result = await db.query<{ position: unknown }>('SELECT position FROM crawl_cursors WHERE source = $1', [
    source,
  ]);
  return result.rows[0]?.position;
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
  const result = await db.query(
    `INSERT INTO crawl_cursors (source, position, updated_at)
     SELECT $1, $2, service_now() FROM leases WHERE name = $3 AND holder = $4 FOR SHARE
     ON CONFLICT (source) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at`,
    [source, JSON.stringify(position), lease.name, lease.holder],
  );
  return result.rowCount === 1;
}
