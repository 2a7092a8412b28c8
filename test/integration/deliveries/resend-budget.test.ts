import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

/** Daily cap of an account without a pack. */
const A_DAY = 1_000;
const NOON = Date.UTC(2026, 2, 1, 12);

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { allowPrivate: true });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const settleAll = (id: string) =>
  db.pool.query(`UPDATE matches SET delivery_status = 'failed', next_attempt_at = NULL WHERE monitor_id = $1`, [id]);

test('an account can resend 1,000 matches per UTC day and is then asked to wait until the day ends', async () => {
  await db.setShift(`${(NOON - Date.now()) / 1_000} seconds`);
  const { apiKey } = await api.account({ pack: 0 });
  const { id } = await api.monitor(apiKey, { webhook_url: 'http://127.0.0.1:9/' });
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT $1, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'failed'
     FROM generate_series(1, 600) AS seq`,
    [id],
  );
  const redeliver = () => api.call(apiKey, 'POST', `/v1/monitors/${id}/redeliver`, { status: 'failed' });
  expect((await redeliver()).body).toEqual({ queued: 600, more: false });
  await settleAll(id);
  // The remaining part of the day.
  expect((await redeliver()).body).toEqual({ queued: A_DAY - 600, more: true });
  await settleAll(id);
  const refused = await redeliver();
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ error: { code: 'rate_limited', retryable: true } });
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(11 * 3_600);
  expect(wait).toBeLessThanOrEqual(12 * 3_600);
  const { rows } = await db.pool.query(
    `SELECT count(*)::int AS n FROM matches WHERE monitor_id = $1 AND delivery_status = 'pending'`,
    [id],
  );
  expect(rows).toEqual([{ n: 0 }]);
  await db.setShift(`${(NOON - Date.now()) / 1_000 + 86_400} seconds`);
  expect((await redeliver()).body).toEqual({ queued: 600, more: false });
});
