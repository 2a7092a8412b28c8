import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { watchDeletes } from '../../support/fixtures/watch-deletes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function count(from: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${from}`);
  return rows[0]!.n;
}

test('deletes what is expired of many monitors together, of each from its oldest match on, and keeps the rest', async () => {
  const ids = await insertMonitors(db.pool, 600);
  // 6,000 matches of the first monitor, 20 of each other one. The last two of each are young; a match has two attempts.
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT id, n, 't1_x' || n, 'comment', at, at, at, '{rust}', false, 'none', 'none'
       FROM unnest($1::text[]) WITH ORDINALITY AS monitors (id, place),
         generate_series(1, CASE WHEN place = 1 THEN 6000 ELSE 20 END) AS n,
         LATERAL (SELECT service_now() - CASE WHEN n > CASE WHEN place = 1 THEN 5998 ELSE 18 END
           THEN interval '1 day' ELSE interval '31 days' END AS at) AS time`,
    [ids],
  );
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT monitor_id, seq, n, created_at, 1, 'generic', 'h', 200, 'delivered' FROM matches, generate_series(1, 2) AS n`,
  );
  await db.pool.query(
    'UPDATE monitor_counters c SET last_seq = (SELECT max(seq) FROM matches m WHERE m.monitor_id = c.monitor_id)',
  );
  const watched = await Promise.all(['matches', 'delivery_attempts'].map((table) => watchDeletes(db.pool, table)));
  await sweepRetention({
    pool: db.pool,
    metrics: createMetrics(),
    signal: new AbortController().signal,
    mayContinue: () => Promise.resolve(true),
    sleep: () => Promise.resolve(),
  });
  const [matches, attempts] = (await Promise.all(watched.map((deletes) => deletes()))) as [number[], number[]];
  expect(Math.max(...matches, ...attempts)).toBeLessThanOrEqual(5_000);
  const sum = (counts: number[]) => counts.reduce((total, n) => total + n, 0);
  expect([sum(matches), sum(attempts)]).toEqual([5_998 + 599 * 18, 2 * (5_998 + 599 * 18)]);
  const kept = await db.pool.query(
    'SELECT monitor_id, array_agg(seq::int ORDER BY seq) AS seqs FROM matches GROUP BY monitor_id ORDER BY monitor_id',
  );
  const seqsOf = (id: string) => (id === ids[0] ? [5_999, 6_000] : [19, 20]);
  expect(kept.rows).toEqual(ids.toSorted().map((id) => ({ monitor_id: id, seqs: seqsOf(id) })));
  expect(await count('delivery_attempts JOIN matches USING (monitor_id, seq)')).toBe(2 * 2 * 600);
  expect(await count('delivery_attempts')).toBe(2 * 2 * 600);
});
