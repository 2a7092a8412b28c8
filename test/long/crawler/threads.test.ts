import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
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
  crawler = undefined;
  simulator = undefined;
});
afterAll(async () => {
  await clickhouse.close();
  await archive.drop();
  await database.drop();
});

test('comments that only their threads show arrive, also while the archive was away at the start', async () => {
  simulator = await startSimulatorProcess({
    SIMULATOR_RATE: '0',
    SIMULATOR_COUNT: '240',
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE: '0',
    SIMULATOR_THREAD_ONLY: '0.2',
  });
  const publisher = new ArchivingPublisher(database.pool, clickhouse);
  const ready = Promise.withResolvers<boolean>();
  crawler = await startTestCrawler({
    url: simulator.url,
    pool: database.pool,
    publisher,
    sources: ['post-ids', 'listings', 'threads'],
    archive: { clickhouse, ready: ready.promise },
    sweepTimes: { checkEveryMs: 1_000 },
  });
  const migrated = migrateClickhouse(clickhouse, database.pool, silentLogger());
  await eventually('the crawl begins without the archive', () => crawler?.ready());
  const owedSince = Date.now();
  await fetch(`${simulator.url}/simulator/rate`, { method: 'POST', body: JSON.stringify({ rate: 40 }) });
  await migrated;
  ready.resolve(true);
  await eventually('the simulator finishes', async () => (await simulator?.stats())?.finished);
  const missing = (): string[] =>
    (simulator?.emitted() ?? [])
      .filter(({ at, name }) => at >= owedSince && !publisher.items.has(name))
      .map(({ name }) => name);
  await eventually('everything emitted is published', () => missing().length === 0);
  const found = [...publisher.items.values()].filter(({ source }) => source === 'threads');
  expect(found.length).toBeGreaterThan(15);
  for (const item of found)
    expect(item).toMatchObject({ kind: 'comment', title: expect.stringMatching(/./) as string });
  expect(crawler.errors).toEqual([]);
});
