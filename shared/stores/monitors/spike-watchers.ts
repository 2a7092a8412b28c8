import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** Ids of the active monitors after `after` whose spikes are sent to their webhook, ascending. */
export async function listSpikeWatchers(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    SELECT id FROM monitors
    WHERE spike_webhook AND status = 'active' AND webhook_url IS NOT NULL AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
