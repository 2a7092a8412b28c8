import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { CollectingPublisher, counted, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

const SOURCES = ['post-ids', 'listings'];
const YEAR_SECONDS = 31_536_000;

describe('a forum that answers oddly', () => {
  let database: TestDatabase;
  let simulator: SimulatorProcess;
  let crawler: TestCrawler;
  let publisher: CollectingPublisher;
  let expectedSince = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await crawler.stop();
    await simulator.stop();
    await database.pool.query('TRUNCATE crawl_cursors, crawl_gaps, leases');
  });
  afterAll(async () => {
    await database.drop();
  });

  async function start(settings: Record<string, string>): Promise<void> {
    const usual = { SIMULATOR_HISTORY: '50', SIMULATOR_LATE: '0', SIMULATOR_COMMENT_IDS: 'random' };
    simulator = await startSimulatorProcess({ ...usual, ...settings });
    publisher = new CollectingPublisher();
    crawler = await startTestCrawler({ url: simulator.url, pool: database.pool, publisher, sources: SOURCES });
    await eventually('the crawl begins', () => crawler.ready() && publisher.items.size > 0);
    expectedSince = Date.now();
  }

  async function emit(item: object): Promise<string> {
    const response = await fetch(`${simulator.url}/simulator/emit`, { method: 'POST', body: JSON.stringify(item) });
    return ((await response.json()) as { name: string }).name;
  }

  function missing(isExpected: (item: EmittedItem) => boolean = () => true): string[] {
    const expected = simulator.emitted().filter((item) => item.at >= expectedSince && isExpected(item));
    return expected.map(({ name }) => name).filter((name) => !publisher.items.has(name));
  }

  /** Waits until every item that meets the condition has arrived. */
  async function arriveAll(isExpected: (item: EmittedItem) => boolean = () => true): Promise<void> {
    await eventually('the simulator finishes', async () => (await simulator.stats()).finished);
    await eventually('everything expected is published', () => missing(isExpected).length === 0);
    expect(publisher.items.size).toBeGreaterThan(300);
    expect(crawler.errors).toEqual([]);
  }

  test('loses nothing to pages that are outdated, repeat children or hold stubs, nor to odd dates', async () => {
    await start({ SIMULATOR_RATE: '120', SIMULATOR_COUNT: '900' });
    const faults = [{ kind: 'duplicates' }, { kind: 'more' }, { kind: 'stale', age_ms: 1500 }];
    const now = Math.floor(Date.now() / 1000);
    const dates = [now + 7 * 86_400, now - 9 * YEAR_SECONDS, now + 40 * YEAR_SECONDS];
    const names = new Map<string, number>();
    for (const [index, created_utc] of dates.entries()) {
      await eventually('more items', async () => (await simulator.stats()).emitted > (index + 1) * 200);
      await simulator.fault({ ...faults[index], path: '/r/', count: 6 });
      const post = await emit({ kind: 'post', title: 'odd date', created_utc });
      names.set(post, created_utc);
      names.set(await emit({ kind: 'comment', text: 'odd date', post, created_utc }), created_utc);
    }
    await arriveAll();
    for (const [name, created] of names) {
      expect(Date.parse(publisher.items.get(name)!.created_utc), name).toBe(created * 1000);
    }
    expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
    // Two sources can receive a post at the same moment.
    expect(publisher.published - publisher.items.size).toBeLessThan(publisher.items.size * 0.05);
    const { rows } = await database.pool.query<{ newest: number }>(
      `SELECT (position->>'newestAt')::float8 AS newest FROM crawl_cursors WHERE source = 'listings:comments'`,
    );
    for (const { newest } of rows) expect(newest, 'no date moves the bound').toBeLessThanOrEqual(Date.now());
  });

  test('loses nothing during an outage, without a broker, and to blocks, 429s, truncated responses and revoked tokens', async () => {
    // Fewer items than a listing holds: nothing leaves the listing, however long the pauses after these faults are. The
    // worst fault, a refusal followed by failures, hits the comments, which no other source can fetch.
    await start({ SIMULATOR_RATE: '150', SIMULATOR_COUNT: '900' });
    publisher.failNext(12);
    const comments = '/r/all/comments';
    const faults = [
      { kind: 'outage', seconds: 2 },
      { kind: '429', count: 2, retry_after: 1 },
      { kind: 'truncated', count: 3 },
      { kind: 'html403', count: 1, path: comments },
      { kind: '5xx', count: 2, path: comments },
      { kind: 'expired-tokens' },
    ];
    for (const [index, fault] of faults.entries()) {
      await eventually(`item ${(index + 1) * 100}`, async () => (await simulator.stats()).emitted > (index + 1) * 100);
      await simulator.fault(fault);
    }
    await arriveAll();
    const failed = (outcome: string) => counted(crawler.metrics, 'upstream_requests_total', { outcome });
    expect(await failed('refused')).toBeGreaterThan(0);
    expect(await failed('broken')).toBeGreaterThan(3);
    expect(await failed('busy')).toBeGreaterThan(0);
  });

  test('late posts that slip deep into the listing are found by their ids', async () => {
    const late = { SIMULATOR_LATE: '0.2', SIMULATOR_LATE_SECONDS: '4', SIMULATOR_LATE_DEEP: '1' };
    await start({ SIMULATOR_RATE: '100', SIMULATOR_COUNT: '800', ...late });
    await arriveAll(({ kind, at, visible_at: visibleAt }) => kind === 'post' || visibleAt === at);
    const latePosts = simulator.emitted().filter(({ kind, at, visible_at: seen }) => kind === 'post' && seen > at);
    expect(latePosts.length).toBeGreaterThan(5);
  });
});
