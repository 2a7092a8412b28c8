import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCoverage } from '../../../services/crawler/coverage/start-coverage.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { saveAuditSamples } from '../../../shared/stores/crawl/audit-samples.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;

let db: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  clickhouse = archive.client;
});
afterAll(async () => {
  await archive.drop();
  await db.drop();
});

function start(options: { metrics: Metrics; client?: ClickHouseClient; archiveReady?: Promise<boolean> }) {
  const errors: Error[] = [];
  const running = startCoverage({
    pool: db.pool,
    clickhouse: options.client ?? clickhouse,
    archiveReady: options.archiveReady ?? Promise.resolve(true),
    allowedPerSecond: () => undefined,
    metrics: options.metrics,
    logger: silentLogger(),
    clock: systemClock,
    intervalMs: 50,
    fatal: (error) => errors.push(error),
  });
  return { errors, stop: () => running.stop() };
}

const exported = async (metrics: Metrics, name: string) =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));

test('one process computes and exports; when it stops, another takes over', async () => {
  const item = { thing_id: 't1_a', kind: 'comment', first_seen_at: new Date().toISOString() };
  await clickhouse.insert({ table: 'items', values: [item], format: 'JSONEachRow' });
  await db.pool.query(`INSERT INTO crawl_gaps (source, reason, opened_at) VALUES ('listings:new', 'x', service_now())`);
  const hour = new Date(Math.floor(Date.now() / HOUR) * HOUR - HOUR);
  await saveAuditSamples(db.pool, [{ hour, postId: 'a', weight: 2, seen: 3, total: 4 }]);
  const [first, second] = [createMetrics(), createMetrics()];
  const leader = start({ metrics: first });
  const newestItem = 'crawler_newest_item_age_seconds';
  // The last of the metrics.
  await eventually('the first exports', async () => (await exported(first, newestItem)).length === 1);
  const follower = start({ metrics: second });
  expect(await exported(first, 'crawler_gaps_open')).toEqual(['crawler_gaps_open{source="listings:new"} 1']);
  expect((await exported(first, 'crawler_completeness')).toString()).toContain('kind="comments",bound="share"} 0.75');
  expect((await exported(first, 'crawler_missed_items')).toString()).toContain('kind="comments"');
  await leader.stop();
  await eventually('the second exports', async () => (await exported(second, newestItem)).length === 1);
  await follower.stop();
  const { rows } = await db.pool.query('SELECT hour FROM coverage_hours ORDER BY hour DESC');
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect((await db.pool.query('SELECT FROM leases')).rowCount, 'the lease is released').toBe(0);
  expect([...leader.errors, ...follower.errors]).toEqual([]);
});

test('it waits while ClickHouse is away, and for the tables of the archive', async () => {
  const away = start({ metrics: createMetrics(), client: createClickhouse('http://127.0.0.1:9', 'away') });
  await eventually('the lease is taken', async () => (await db.pool.query('SELECT FROM leases')).rowCount === 1);
  await away.stop();
  const unready = start({ metrics: createMetrics(), archiveReady: new Promise(() => undefined) });
  await unready.stop();
  expect([...away.errors, ...unready.errors]).toEqual([]);
});
