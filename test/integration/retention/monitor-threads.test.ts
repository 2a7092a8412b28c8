import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await db.moveToNoon(0);
  await db.pool.query(
    `INSERT INTO monitor_threads (day, monitor_id, post_id)
     SELECT (service_now() AT TIME ZONE 'UTC')::date - ago, 'mon_' || n % 3, n
     FROM generate_series(0, 4) AS ago, generate_series(1, 3000) AS n`,
  );
});
afterEach(() => db.drop());

/** How many days ago the days of the stored threads are. */
async function storedDays(): Promise<{ ago: number; threads: number }[]> {
  const { rows } = await db.pool.query<{ ago: number; threads: number }>(
    `SELECT (service_now() AT TIME ZONE 'UTC')::date - day AS ago, count(*) AS threads
     FROM monitor_threads GROUP BY day ORDER BY ago`,
  );
  return rows;
}

test('the sweep keeps the threads of today and the two days before', async () => {
  await sweepRetention({
    pool: db.pool,
    metrics: createMetrics(),
    signal: new AbortController().signal,
    mayContinue: () => Promise.resolve(true),
    sleep: () => Promise.resolve(),
  });
  expect(await storedDays()).toEqual([0, 1, 2].map((ago) => ({ ago, threads: 3_000 })));
});
