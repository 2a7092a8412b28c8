import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readEmitted } from '../../support/clients/emitted-items.ts';

/** Pairs that are explained. */
const MOST = 20;

/**
 * What is known of pairs `MONITOR THING` that were not recorded: when the forum showed the thing and how long that was
 * after which death, whether it was archived (so it was seen, and lost later), and which gaps are still open.
 */
export async function explainLost(
  lost: readonly string[],
  from: { pool: Pool; clickhouse: string; log: string; deaths: readonly { kind: string; at: number }[] },
): Promise<object[]> {
  const names = new Set(lost.slice(0, MOST).map((pair) => pair.split(' ')[1]!));
  const client = createClickhouse(from.clickhouse, 'bench');
  try {
    const answer = await client.query({
      query: 'SELECT thing_id, source, first_seen_at FROM items WHERE thing_id IN {names: Array(String)}',
      query_params: { names: [...names] },
      format: 'JSONEachRow',
    });
    const seen = new Map((await answer.json<{ thing_id: string }>()).map((row) => [row.thing_id, row]));
    const things = readEmitted(from.log)
      .filter(({ name }) => names.has(name))
      .map(({ name, at, visible_at, subreddit, link_id }) => {
        const death = from.deaths.findLast((one) => one.at <= visible_at);
        const after = death && { kind: death.kind, seconds: (visible_at - death.at) / 1_000 };
        return {
          name,
          at: new Date(at),
          visible_at: new Date(visible_at),
          subreddit,
          link_id,
          after,
          archived: seen.get(name),
        };
      });
    const { rows } = await from.pool.query<object>('SELECT * FROM crawl_gaps WHERE filled_at IS NULL LIMIT 50');
    return [...things.map((thing) => ({ run: 'lost', ...thing })), ...rows.map((gap) => ({ run: 'open gap', ...gap }))];
  } finally {
    await client.close();
  }
}
