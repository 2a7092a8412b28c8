import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMonitorHistory } from '../../../shared/stores/monitors/monitor-history.ts';
import { readRulesById } from '../../../shared/stores/monitors/monitor-rules.ts';
import { RULE_VERSIONS_PER_DAY } from '../../../shared/stores/monitors/monitors.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

/** Gives the rule as many versions, all but the first an hour ago, as a client that never stops changing it would. */
async function changeTo(id: string, version: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO monitor_versions (monitor_id, version, since)
     SELECT $1, version, wall_now() - interval '1 hour' FROM generate_series(2, $2::int) AS version`,
    [id, version],
  );
  await db.pool.query('UPDATE monitors SET version = $2 WHERE id = $1', [id, version]);
}

test('a rule may change a thousand times in 24 hours; everything else of the monitor may change always', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  const patch = (body: object) => api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body);
  await changeTo(id, RULE_VERSIONS_PER_DAY + 1);
  const refused = await patch({ nsfw: true });
  expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
  expect((await patch({ name: 'another name' })).status).toBe(200);
  await db.pool.query(
    `UPDATE monitor_versions SET since = wall_now() - interval '24 hours' WHERE monitor_id = $1 AND version = 1`,
    [id],
  );
  expect((await patch({ nsfw: true })).status).toBe(200);
});

test('what matchers and questions read of a rule that always changes is bounded, and is the newest', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  await changeTo(id, 5_000);
  const { monitors } = await readRulesById(db.pool, [id], 1e9);
  const versions = monitors[0]!.versions.map(({ version }) => version);
  expect(versions).toEqual(Array.from({ length: 3_000 }, (_, index) => 2_001 + index));
  const history = await readMonitorHistory(db.pool, id);
  expect(history.versions.map(({ version }) => version)).toEqual(Array.from({ length: 1_000 }, (_, n) => 4_001 + n));
});
