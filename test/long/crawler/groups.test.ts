import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCommunityCounts } from '../../../shared/crawl/community-rates.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { CollectingPublisher, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

let database: TestDatabase;
let simulator: SimulatorProcess;
let crawler: TestCrawler | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  simulator = await startSimulatorProcess({
    SIMULATOR_RATE: '80',
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE: '0',
    SIMULATOR_DROP_ALL: '0.4@5',
    SIMULATOR_OUTSIDE_ALL: '0.2',
  });
});
afterAll(async () => {
  await crawler?.stop();
  await simulator.stop();
  await database.drop();
});

function comments(from: number, to: number): EmittedItem[] {
  return simulator.emitted().filter(({ kind, at }) => kind === 'comment' && at >= from && at < to);
}

test('groups of communities publish the comments that /r/all/comments drops or never shows', async () => {
  const publisher = new CollectingPublisher();
  const learnedFrom = Date.now();
  await eventually('some communities are known', () => comments(learnedFrom, Infinity).length > 400);
  // As crawlers of the last ten minutes, the shortest time that counts, would have counted them.
  const counts = new Map<string, number>();
  const factor = 600_000 / (Date.now() - learnedFrom);
  for (const { subreddit } of comments(learnedFrom, Infinity)) {
    counts.set(subreddit, (counts.get(subreddit) ?? 0) + factor);
  }
  await addCommunityCounts(
    database.pool,
    [...counts].map(([subreddit, comments]) => ({ subreddit, comments, posts: 0, checked: 0, missed: 0 })),
  );
  crawler = await startTestCrawler({
    url: simulator.url,
    pool: database.pool,
    publisher,
    sources: ['post-ids', 'listings'],
  });
  const unlisted = () => comments(learnedFrom, Infinity).filter(({ shown }) => shown === 'community');
  // From the first page of a group on, everything that it shows is expected.
  const first = await eventually('a comment that only a group shows', () =>
    unlisted().find(({ name }) => publisher.items.has(name)),
  );
  expect(publisher.items.get(first.name)).toMatchObject({ source: 'listings', replay: false });
  const from = Date.now() + 5_000;
  await eventually('more comments', () => comments(from, Infinity).length > 300);
  const expected = comments(from, Date.now()).filter(({ subreddit }) => counts.has(subreddit));
  expect(expected.filter(({ shown }) => shown === 'community').length).toBeGreaterThan(60);
  await eventually('all of them are published', () => {
    const missing = expected.filter(({ name }) => !publisher.items.has(name));
    if (missing.length === 0) return true;
    throw new Error(`missing ${missing.length} of ${expected.length}: ${JSON.stringify(missing.slice(0, 3))}`);
  });
  expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
  expect(crawler.errors).toEqual([]);
  const { rows } = await database.pool.query<{ source: string }>('SELECT source FROM crawl_cursors ORDER BY source');
  const slices = rows.map(({ source }) => source).filter((source) => source.startsWith('listings:groups'));
  expect(slices.filter((source) => !source.endsWith(':prompt'))).toHaveLength(4);
  // The names of the communities in groups that are not slow.
  expect(slices.filter((source) => source.endsWith(':prompt'))).toHaveLength(4);
});
