import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findRecentSpikes } from '../../../services/biller/find-spikes.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Start of an hour that has ended. */
const AT = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;

let metrics: Metrics;
let db: TestDatabase;
let archive: TestArchive;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
});

afterAll(async () => {
  await archive.drop();
  await db.drop();
});

beforeEach(async () => {
  metrics = createMetrics();
  await db.setShift('0');
  await db.pool.query('TRUNCATE leases, monitor_events, monitors CASCADE');
});

/** A monitor that wants to hear of spikes and has always been silent. */
async function watcher(days = 40): Promise<string> {
  const [id = ''] = await insertMonitors(db.pool, 1, { webhookUrl: 'https://example.com/hook' });
  await db.pool.query('UPDATE monitors SET spike_webhook = true WHERE id = $1', [id]);
  await ageMonitor(db.pool, id, days);
  return id;
}

const found = (monitorId: string, count: number, seenAt: number) =>
  archiveMatches(archive.client, [
    { monitorId, seq: Math.floor((seenAt - AT) / HOUR) * 1_000 + 100_000, count, seenAt },
  ]);

/** A run of one process. */
const checkSpikes = (): Promise<number | false> =>
  findRecentSpikes({
    pool: db.pool,
    clickhouse: archive.client,
    metrics,
    mayContinue: () => Promise.resolve(true),
  });

async function events(): Promise<[string, string, unknown][]> {
  const { rows } = await db.pool.query<{ monitor_id: string; key: string; payload: unknown }>(
    `SELECT monitor_id, key, payload FROM monitor_events WHERE kind = 'monitor.spike' ORDER BY monitor_id, key`,
  );
  return rows.map(({ monitor_id, key, payload }) => [monitor_id, key, payload]);
}

test('a spike is one event, however often and by however many processes it is found', async () => {
  const id = await watcher();
  await found(id, 12, AT);
  await found(id, 9, AT - HOUR);
  await Promise.all([checkSpikes(), checkSpikes(), checkSpikes()]);
  const at = new Date(AT).toISOString();
  expect(await events()).toEqual([[id, at, { at, interval: 'hour', count: 12, expected: 0, score: 12 }]]);
  await checkSpikes();
  expect(await events()).toHaveLength(1);
  expect((await metrics.monitorEvents.get()).values).toMatchObject([
    { labels: { type: 'monitor.spike', outcome: 'stored' }, value: 1 },
  ]);
});

test('an hour is checked after its end, and again for what the archive got late', async () => {
  const id = await watcher();
  const now = Math.floor(Date.now() / HOUR) * HOUR;
  await found(id, 40, now);
  const nextMs = await checkSpikes();
  expect(nextMs).toBeGreaterThan(0);
  expect(nextMs).toBeLessThanOrEqual(HOUR);
  expect(await events()).toEqual([]);
  await found(id, 15, AT);
  await db.setShift('1 hour');
  await checkSpikes();
  expect((await events()).map(([, key]) => key)).toContain(new Date(AT).toISOString());
});

test('what was seen more than an hour after its creation, as after an outage, makes no spike', async () => {
  const [late, timely, mixed] = [await watcher(), await watcher(), await watcher()];
  const few = { count: 12, seenAt: AT, lagMs: HOUR - 1_000 };
  const many = { count: 40, seenAt: AT, lagMs: HOUR + 1_000 };
  await archiveMatches(archive.client, [
    { ...many, monitorId: late, seq: 1 },
    { ...few, monitorId: timely, seq: 1 },
    { ...few, monitorId: mixed, seq: 1 },
    { ...many, monitorId: mixed, seq: 100 },
  ]);
  await checkSpikes();
  const counts = (await events()).map(([monitor, , payload]) => [monitor, (payload as { count: number }).count]);
  expect(counts).toEqual(
    [
      [timely, 12],
      [mixed, 12],
    ].toSorted(),
  );
});

test('only active monitors that ask for it and have a webhook, and none that are too young', async () => {
  const ids = [await watcher(), await watcher(), await watcher(), await watcher(13)];
  await db.pool.query('UPDATE monitors SET spike_webhook = false WHERE id = $1', [ids[0]]);
  await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [ids[1]]);
  await db.pool.query('UPDATE monitors SET webhook_url = NULL, webhook_kind = NULL WHERE id = $1', [ids[2]]);
  const heard = await watcher();
  for (const id of [...ids, heard]) await found(id, 50, AT - DAY / 12);
  await checkSpikes();
  expect((await events()).map(([monitor]) => monitor)).toEqual([heard]);
});
