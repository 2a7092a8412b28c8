import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import {
  CollectingPublisher,
  counted,
  startTestCrawler,
  TEST_SITE_URL,
} from '../../support/fixtures/crawler-fixture.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';

const SOURCES = ['post-ids', 'listings'];

describe('the live crawl', () => {
  let database: TestDatabase;
  let simulator: SimulatorProcess | undefined;
  let crawler: TestCrawler | undefined;
  let owedSince = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await crawler?.stop();
    await simulator?.stop();
    crawler = undefined;
    simulator = undefined;
    await database.pool.query('TRUNCATE crawl_cursors, crawl_gaps, leases');
  });
  afterAll(async () => {
    await database.drop();
  });

  /** A first crawl begins at the newest page, so items emitted before it are not expected. */
  async function start(
    settings: Record<string, string>,
    sources = SOURCES,
    pool = database.pool,
  ): Promise<[SimulatorProcess, CollectingPublisher]> {
    simulator = await startSimulatorProcess({ SIMULATOR_HISTORY: '50', SIMULATOR_LATE: '0', ...settings });
    const publisher = new CollectingPublisher();
    crawler = await startTestCrawler({ url: simulator.url, pool, publisher, sources });
    await eventually('the crawl begins', () => crawler?.ready());
    owedSince = Date.now();
    return [simulator, publisher];
  }

  function missing(publisher: CollectingPublisher): string[] {
    const owed = simulator?.emitted().filter(({ at }) => at >= owedSince) ?? [];
    return owed.map(({ name }) => name).filter((name) => !publisher.items.has(name));
  }

  async function arriveAll(publisher: CollectingPublisher): Promise<void> {
    await eventually('the simulator finishes', async () => (await simulator?.stats())?.finished);
    await eventually('everything emitted is published', async () => {
      const names = missing(publisher);
      if (names.length === 0) return true;
      const { rows: gaps } = await database.pool.query(
        'SELECT source, reason, after_thing, before_thing FROM crawl_gaps',
      );
      throw new Error(`missing ${names.length}: ${names.slice(0, 5).join(', ')}; gaps: ${JSON.stringify(gaps)}`);
    });
    expect(crawler?.errors).toEqual([]);
  }

  test('publishes every one of 1,100 items at 300 a second, each once, to its topic', async () => {
    // Fewer comments than the listing shows: none of them can leave it, however long a pass takes.
    const [, publisher] = await start({ SIMULATOR_RATE: '300', SIMULATOR_COUNT: '1100' });
    await arriveAll(publisher);
    // Two sources can receive a post at the same moment; everything else is published once.
    expect(publisher.published - publisher.items.size).toBeLessThan(publisher.items.size * 0.05);
    for (const [name, topic] of publisher.topics) {
      expect(topic).toBe(name.startsWith('t3_') ? 'forum.posts' : 'forum.comments');
    }
    expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
    const emitted = simulator?.emitted().findLast(({ kind }) => kind === 'comment');
    const item = publisher.items.get(emitted?.name ?? '');
    expect(item).toMatchObject({ nsfw: emitted?.over_18, source: 'listings', replay: false });
    expect(item?.title).not.toBe('');
    expect(item?.permalink.startsWith(`${TEST_SITE_URL}/r/`)).toBe(true);
  });

  test('loses nothing during an outage, blocks, 429s, truncated responses and revoked tokens', async () => {
    // Fewer items than a listing holds: nothing leaves the listing, however long the pauses after these faults are. The
    // worst fault, a refusal followed by failures, hits the comments, which no other source can fetch.
    const [sim, publisher] = await start({ SIMULATOR_RATE: '150', SIMULATOR_COUNT: '900' });
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
      await eventually(`item ${(index + 1) * 100}`, async () => (await sim.stats()).emitted > (index + 1) * 100);
      await sim.fault(fault);
    }
    await arriveAll(publisher);
    const metrics = crawler?.metrics;
    expect(metrics && (await counted(metrics, 'upstream_requests_total', { outcome: 'refused' }))).toBeGreaterThan(0);
    expect(metrics && (await counted(metrics, 'upstream_requests_total', { outcome: 'broken' }))).toBeGreaterThan(3);
    expect(metrics && (await counted(metrics, 'upstream_requests_total', { outcome: 'busy' }))).toBeGreaterThan(0);
  });

  test('resumes from its checkpoints after a stop and loses nothing published in the meantime', async () => {
    // Fewer comments than the listing shows: none of them can leave it, however long a restart takes.
    const [sim, publisher] = await start({ SIMULATOR_RATE: '200', SIMULATOR_COUNT: '1100' });
    const emitted = 300;
    await eventually(`item ${emitted}`, async () => (await sim.stats()).emitted > emitted);
    await crawler?.stop();
    await eventually(`item ${emitted + 300}`, async () => (await sim.stats()).emitted > emitted + 300);
    crawler = await startTestCrawler({ url: sim.url, pool: database.pool, publisher, sources: SOURCES });
    await arriveAll(publisher);
    expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
  });

  test('loses nothing while Postgres and the broker are away, and saves its cursors afterwards', async () => {
    const proxy = await TcpProxy.start(database.url);
    const pool = createPool({ url: proxy.url, name: 'crawler', logger: silentLogger() });
    const [sim, publisher] = await start({ SIMULATOR_RATE: '120', SIMULATOR_COUNT: '900' }, SOURCES, pool);
    proxy.goAway();
    publisher.failNext(12);
    // Longer than the duration of a lease.
    await eventually('item 700', async () => (await sim.stats()).emitted > 600 && publisher.items.size > 400);
    const back = new Date();
    proxy.comeBack();
    await arriveAll(publisher);
    await eventually('the cursors are saved', async () => {
      const { rowCount } = await database.pool.query('SELECT FROM crawl_cursors WHERE updated_at > $1', [back]);
      return rowCount! > 0;
    });
    expect((await database.pool.query('SELECT * FROM crawl_gaps')).rows).toEqual([]);
    await crawler?.stop();
    crawler = undefined;
    await pool.end();
    await proxy.stop();
  });

  test('records a gap when a listing no longer reaches the last item seen, and still fetches all posts', async () => {
    const [sim, publisher] = await start({ SIMULATOR_RATE: '1000', SIMULATOR_COUNT: '6000' });
    await eventually('item 1000', async () => (await sim.stats()).emitted > 1000);
    await crawler?.stop();
    await eventually('the simulator finishes', async () => (await sim.stats()).finished);
    crawler = await startTestCrawler({ url: sim.url, pool: database.pool, publisher, sources: SOURCES });
    await eventually('all posts are published', () => missing(publisher).every((name) => name.startsWith('t1_')));
    const gaps = await eventually('a gap', async () => {
      const { rows } = await database.pool.query<{ source: string; after_thing: string }>('SELECT * FROM crawl_gaps');
      return rows.length > 0 && rows;
    });
    // On a busy machine the first crawler may have recorded one as well.
    expect(new Set(gaps.map(({ source }) => source))).toEqual(new Set(['listings:comments']));
    expect(publisher.items.has(gaps[0]?.after_thing ?? '')).toBe(true);
  });

  test('records every unseen comment as a gap when the listing slides during a pass (132 a second, 300 to 600 ms a call)', async () => {
    const numberOf = (name: string) => parseInt(name.slice(3), 36) - parseInt('p000000', 36);
    const nameOf = (number: number) => `t1_${(number + parseInt('p000000', 36)).toString(36)}`;
    const settings = { SIMULATOR_HISTORY: '4000', SIMULATOR_HOLES: '0', SIMULATOR_LATENCY_MS: '300-600' };
    // Stopped at comment 100 of 3,500: the listing no longer reaches back that far.
    await database.pool.query(`INSERT INTO crawl_cursors (source, position) VALUES ('listings:comments', $1)`, [
      JSON.stringify({ anchors: [nameOf(99), nameOf(100)] }),
    ]);
    const [, publisher] = await start({ SIMULATOR_RATE: '151', ...settings });
    const gaps = await eventually('a gap', async () => {
      const { rows } = await database.pool.query<{ after_thing: string; before_thing: string }>(
        `SELECT after_thing, before_thing FROM crawl_gaps WHERE source = 'listings:comments'`,
      );
      return rows.length > 0 && rows;
    });
    const ranges = gaps.map((gap) => [numberOf(gap.after_thing), numberOf(gap.before_thing)] as const);
    expect(ranges[0]?.[0]).toBe(100);
    const unaccounted = Array.from({ length: 3400 }, (_, index) => 100 + index)
      .filter((number) => !publisher.items.has(nameOf(number)))
      .filter((number) => !ranges.some(([after, before]) => after <= number && number <= before));
    expect(unaccounted).toEqual([]);
  });
});
