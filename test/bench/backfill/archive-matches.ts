import { setTimeout as wait } from 'node:timers/promises';
import { itemRow } from '../../../shared/stores/archive/archive-rows.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const TEXT = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);
const DAY_MS = 86_400_000;
const INSERTED_AT_ONCE = 10_000;

/** Archives so many comments that contain the word, spread over the last day, and as many that do not. */
export async function fillArchive(clickhouse: ClickHouseClient, word: string, matches: number): Promise<void> {
  for (let first = 0; first < 2 * matches; first += INSERTED_AT_ONCE) {
    const count = Math.min(INSERTED_AT_ONCE, 2 * matches - first);
    const values = Array.from({ length: count }, (_, index) => {
      const number = first + index;
      const at = new Date(Date.now() - DAY_MS + Math.floor((number * DAY_MS) / (2 * matches + 1))).toISOString();
      const body = number % 2 === 0 ? `${TEXT} ${word}` : TEXT;
      const item = forumItemOf(`t1_${word}${number.toString(36)}`, { body, created_utc: at, first_seen_at: at });
      return itemRow(item, false);
    });
    await clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
  }
}

/** Asks for a backfill of a new monitor that finds the word, and waits for its end. Its time includes the wait. */
export async function runBackfill(
  pool: Pool,
  word: string,
  matches: number,
): Promise<{ seconds: number; perSecond: number }> {
  const [id] = await insertMonitors(pool, 1, { pack: 79 });
  await pool.query(
    `UPDATE accounts SET balance = 1000 FROM monitors m WHERE m.id = $1 AND accounts.id = m.account_id`,
    [id],
  );
  const rule = { keywords: [word], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
  await pool.query(
    `INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, deliver, request_id, route)
     SELECT 'bf_' || id, id, account_id, 1, $2, now() - interval '2 days', now(), false, 'bench', 'POST /bench'
     FROM monitors WHERE id = $1`,
    [id, rule],
  );
  for (;;) {
    const { rows } = await pool.query<{ state: string; matches: number; seconds: number }>(
      `SELECT state, matches, extract(epoch FROM ended_at - created_at)::float8 AS seconds FROM backfills
       WHERE monitor_id = $1`,
      [id],
    );
    const run = rows[0]!;
    if (run.state === 'running') {
      await wait(100);
      continue;
    }
    if (run.state !== 'done' || run.matches !== matches) throw new Error(`ended as ${JSON.stringify(run)}`);
    return { seconds: Number(run.seconds.toFixed(1)), perSecond: Math.round(matches / run.seconds) };
  }
}
