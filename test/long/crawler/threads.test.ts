import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { estimateCompleteness } from '../../../shared/crawl/rules/coverage.ts';
import { readAuditSamples } from '../../../shared/crawl/crawl-coverage.ts';
import { ArchivingPublisher } from '../../support/fakes/archiving-publisher.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import type { TestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';

let database: TestDatabase;
let archive: TestClickhouse;
let clickhouse: ClickHouseClient;
let simulator: SimulatorProcess | undefined;
let crawler: TestCrawler | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestClickhouse();
  clickhouse = createClickhouse(archive.url, 'test');
});
afterEach(async () => {
  await crawler?.stop();
  await simulator?.stop();
  await database.pool.query('TRUNCATE crawl_cursors, crawl_gaps, leases, audit_samples');
  // The next forum gives its items the same names.
  for (const table of ['items', 'thread_items', 'item_sightings']) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
  crawler = undefined;
  simulator = undefined;
});
afterAll(async () => {
  await clickhouse.close();
  await archive.drop();
  await database.drop();
});

test('comments that only their threads show arrive, also while the archive was unavailable at the start', async () => {
  simulator = await startSimulatorProcess({
    SIMULATOR_RATE: '0',
    SIMULATOR_COUNT: '240',
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE: '0',
    SIMULATOR_THREAD_ONLY: '0.2',
  });
  const migrated = migrateClickhouse(clickhouse, database.pool, silentLogger());
  const publisher = new ArchivingPublisher(database.pool, clickhouse, migrated);
  const ready = Promise.withResolvers<boolean>();
  crawler = await startTestCrawler({
    url: simulator.url,
    pool: database.pool,
    publisher,
    sources: ['post-ids', 'listings', 'threads'],
    archive: { clickhouse, ready: ready.promise },
    sweepTimes: { checkEveryMs: 1_000 },
  });
  await eventually('the crawl begins without the archive', () => crawler?.ready());
  const expectedSince = Date.now();
  await fetch(`${simulator.url}/simulator/rate`, { method: 'POST', body: JSON.stringify({ rate: 40 }) });
  await migrated;
  ready.resolve(true);
  await eventually('the simulator finishes', async () => (await simulator?.stats())?.finished);
  const missing = (): string[] =>
    (simulator?.emitted() ?? [])
      .filter(({ at, name }) => at >= expectedSince && !publisher.items.has(name))
      .map(({ name }) => name);
  await eventually('everything emitted is published', () => missing().length === 0);
  const found = [...publisher.items.values()].filter(({ source }) => source === 'threads');
  expect(found.length).toBeGreaterThan(15);
  for (const item of found)
    expect(item).toMatchObject({ kind: 'comment', title: expect.stringMatching(/./) as string });
  expect(crawler.errors).toEqual([]);
});

test('the audit measures the share of comments that no other source had seen', async () => {
  simulator = await startSimulatorProcess({
    SIMULATOR_RATE: '10',
    SIMULATOR_COUNT: '300',
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE: '0',
    SIMULATOR_THREAD_ONLY: '0.3',
    SIMULATOR_SEED: '7',
  });
  const publisher = new ArchivingPublisher(database.pool, clickhouse);
  crawler = await startTestCrawler({
    url: simulator.url,
    pool: database.pool,
    publisher,
    sources: ['post-ids', 'listings', 'threads'],
    archive: { clickhouse, ready: Promise.resolve(true) },
    // Threads are not read in time, so the audit finds what only they show.
    sweepTimes: { checkEveryMs: 3_600_000, auditStepsMs: [10_000] },
  });
  await eventually('the crawl begins', () => crawler?.ready());
  await eventually('the simulator finishes', async () => (await simulator?.stats())?.finished, 60_000);
  const audited = (): ForumItem[] => [...publisher.items.values()].filter(({ source }) => source === 'audit');
  const samples = await eventually('three windows are audited', async () => {
    const from = new Date(Date.now() - 3_600_000);
    const stored = await readAuditSamples(database.pool, from, new Date(Date.now() + 1_000));
    return new Set(stored.map(({ hour }) => hour.getTime())).size >= 3 && stored;
  });
  expect(Math.min(...samples.map(({ weight }) => weight))).toBeGreaterThanOrEqual(1);
  // The same comments, counted from what was published.
  const windows = [...new Set(samples.map(({ hour }) => hour.getTime()))];
  const comments = [...publisher.items.values()].filter(({ kind, created_utc: at }) => {
    return kind === 'comment' && windows.some((start) => Date.parse(at) >= start && Date.parse(at) < start + 10_000);
  });
  const seen = comments.filter(({ source }) => source === 'listings').length;
  const measured = estimateCompleteness(samples)!;
  expect(audited().length).toBeGreaterThan(10);
  expect(measured.share).toBeLessThan(0.95);
  // A sample of some 60 threads.
  expect(Math.abs(measured.share - seen / comments.length)).toBeLessThan(0.25);
  const estimated = samples.reduce((sum, { weight, total }) => sum + weight * total, 0);
  expect(estimated / comments.length).toBeGreaterThan(0.5);
  expect(estimated / comments.length).toBeLessThan(2);
  expect(crawler.errors).toEqual([]);
});
