import type { Queryable } from '../postgres/pool.ts';

/** Where a source stood when it last saved; undefined when it never did. The shape is the source's own. */
export async function readCursor(db: Queryable, source: string): Promise<unknown> {
  const result = await db.query<{ position: unknown }>('SELECT position FROM crawl_cursors WHERE source = $1', [
    source,
  ]);
  return result.rows[0]?.position;
}

/** Saves where a source stands. Called only after everything before that position was acknowledged by the broker. */
export async function saveCursor(db: Queryable, source: string, position: unknown): Promise<void> {
  await db.query(
    `INSERT INTO crawl_cursors (source, position, updated_at)
     VALUES ($1, $2, service_now())
     ON CONFLICT (source) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at`,
    [source, JSON.stringify(position)],
  );
}
