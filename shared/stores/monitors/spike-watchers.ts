import type { Queryable } from '../../postgres/pool.ts';

/** Ids of the active monitors after `after` whose spikes are sent to their webhook, ascending. */
export async function listSpikeWatchers(db: Queryable, after: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM monitors
      WHERE spike_webhook AND status = 'active' AND webhook_url IS NOT NULL AND id > $1
      ORDER BY id LIMIT $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}
