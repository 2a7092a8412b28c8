import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { CollectingPublisher, startTestCrawler, TEST_SITE_URL } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

const SOURCES = ['post-ids', 'listings'];

let database: TestDatabase;
let simulator: SimulatorProcess;
let crawler: TestCrawler;

beforeAll(async () => {
  database = await createTestDatabase();
  simulator = await startSimulatorProcess({
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE: '0',
    // Fewer comments than the listing shows: none of them can leave it, however long a restart takes.
    SIMULATOR_RATE: '250',
    SIMULATOR_COUNT: '1100',
  });
});
afterAll(async () => {
  await crawler.stop();
  await simulator.stop();
  await database.drop();
});

const emitted = async (): Promise<number> => (await simulator.stats()).emitted;

test('every one of 1,100 items is published once, to its topic, also after a stop in between', async () => {
  const publisher = new CollectingPublisher();
  const start = () => startTestCrawler({ url: simulator.url, pool: database.pool, publisher, sources: SOURCES });
  crawler = await start();
  await eventually('the crawl begins', () => crawler.ready());
  // A first crawl begins at the newest page, so items emitted before it are not expected.
  const expectedSince = Date.now();
  const before = await emitted();
  await eventually('some items', async () => (await emitted()) > before + 150);
  await crawler.stop();
  await eventually('items that nobody reads', async () => (await emitted()) > before + 400);
  crawler = await start();
  await eventually('the simulator finishes', async () => (await simulator.stats()).finished);
  const expected = simulator.emitted().filter(({ at }) => at >= expectedSince);
  expect(expected.length).toBeGreaterThan(400);
  await eventually('everything emitted is published', () => expected.every(({ name }) => publisher.items.has(name)));
  // Two sources can receive a post at the same moment, and a stop may come between publication and checkpoint.
  expect(publisher.published - publisher.items.size).toBeLessThan(publisher.items.size * 0.2);
  for (const [name, topic] of publisher.topics) {
    expect(topic).toBe(name.startsWith('t3_') ? 'forum.posts' : 'forum.comments');
  }
  expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
  const comment = expected.findLast(({ kind }) => kind === 'comment')!;
  const item = publisher.items.get(comment.name)!;
  expect(item).toMatchObject({ nsfw: comment.over_18, source: 'listings', replay: false });
  expect(item.title).not.toBe('');
  expect(item.permalink.startsWith(`${TEST_SITE_URL}/r/`)).toBe(true);
  expect(crawler.errors).toEqual([]);
});
