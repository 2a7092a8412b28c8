import type { Queryable } from '../../postgres/pool.ts';

/** Where a source stood when it last saved; undefined when it never did. The shape is the source's own. */
export async function readCursor(db: Queryable, source: string): Promise<unknown> {
  const result = await db.query<{ position: unknown }>('SELECT position FROM crawl_cursors WHERE source = $1', [
    source,
  ]);
  return result.rows[0]?.position;
}

/**
 * Saves where a source stands, unless another process has taken its lease: a process that stood still must not
 * overwrite what the next one saved. Called only after everything before that position was acknowledged by the broker.
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
