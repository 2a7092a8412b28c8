import type { Pool } from '../../shared/postgres/pool.ts';

/** Everything that a refused request must leave as it was. */
export async function refusedState(pool: Pool): Promise<unknown> {
  const { rows } = await pool.query(
    `SELECT (SELECT json_agg(l ORDER BY id) FROM ledger_entries l) AS ledger,
            (SELECT json_agg(m ORDER BY id) FROM monitors m) AS monitors,
            (SELECT json_agg(v ORDER BY monitor_id, version) FROM monitor_versions v) AS versions,
            (SELECT json_agg(c ORDER BY monitor_id) FROM monitor_counters c) AS counters,
            (SELECT json_agg(m ORDER BY monitor_id, seq) FROM matches m) AS matches,
            (SELECT json_agg(u ORDER BY name) FROM recent_uses u) AS uses,
            (SELECT json_agg(a ORDER BY id) FROM accounts a) AS accounts`,
  );
  return rows[0];
}
