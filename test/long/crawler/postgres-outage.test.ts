import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { CollectingPublisher, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

const SOURCES = ['post-ids', 'listings'];
/** post-ids, /r/all/comments and four slices of groups. */
const ALL_SOURCES = 6;
const LEASES = `SELECT name, holder FROM leases WHERE name LIKE 'crawl:%' ORDER BY name`;
const VALID_LEASES = `SELECT name, holder FROM leases WHERE lease_until > service_now() ORDER BY name COLLATE "C"`;
/** The names of the leases of the processes begin so. */
const MEMBERS =
  'crawler:listings:comments,listings:groups:0,listings:groups:1,listings:groups:2,listings:groups:3,post-ids:';

interface Crawl {
  publisher: CollectingPublisher;
  crawler: TestCrawler;
  proxy: TcpProxy;
  pool: Pool;
}

describe('the crawl while Postgres is unavailable', () => {
  let database: TestDatabase;
  let simulator: SimulatorProcess;
  const cleanUp: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
    await database.pool.query('TRUNCATE crawl_cursors, crawl_gaps, leases');
  });
  afterAll(async () => {
    await database.drop();
  });

  async function startForum(settings: Record<string, string>): Promise<void> {
    simulator = await startSimulatorProcess({ SIMULATOR_HISTORY: '50', SIMULATOR_LATE: '0', ...settings });
    cleanUp.push(() => simulator.stop());
  }

  /** A crawler that reaches Postgres through its own proxy. */
  async function startCrawl(): Promise<Crawl> {
    const proxy = await TcpProxy.start(database.url);
    const pool: Pool = createPool({ url: proxy.url, name: 'crawler', logger: silentLogger() });
    const publisher = new CollectingPublisher();
    const crawler = await startTestCrawler({ url: simulator.url, pool, publisher, sources: SOURCES });
    cleanUp.push(
      () => proxy.stop(),
      () => pool.end(),
      () => crawler.stop(),
    );
    return { publisher, crawler, proxy, pool };
  }

  async function grows(what: string, publisher: CollectingPublisher, by: number): Promise<void> {
    const before = publisher.items.size;
    await eventually(what, () => publisher.items.size >= before + by);
  }

  async function bothHoldTheirPart(): Promise<{ name: string; holder: string }[] | false> {
    const { rows } = await database.pool.query<{ name: string; holder: string }>(LEASES);
    const parts = new Map<string, number>();
    for (const { holder } of rows) parts.set(holder, (parts.get(holder) ?? 0) + 1);
    return rows.length === ALL_SOURCES && Math.max(...parts.values()) <= Math.ceil(rows.length / 2) && rows;
  }

  async function cursorsSavedAfter(time: Date): Promise<boolean> {
    // Groups of communities are formed after minutes.
    const { rowCount } = await database.pool.query(
      `SELECT 1 FROM crawl_cursors WHERE updated_at > $1 AND source NOT LIKE 'listings:groups:%'`,
      [time],
    );
    return rowCount === 2;
  }

  test('keeps a gap in memory and writes it when Postgres is back, before the cursor moves past it', async () => {
    await startForum({ SIMULATOR_RATE: '1000' });
    const { publisher, crawler, proxy } = await startCrawl();
    await eventually('the crawl begins', () => crawler.ready() && publisher.items.size > 500);
    proxy.goAway();
    // A statement that was under way may still be committed.
    await eventually('its sessions have ended', async () => {
      const { rowCount } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'crawler' AND datname = current_database()`,
      );
      return rowCount === 0;
    });
    const gapsNow = () =>
      database.pool.query<{ source: string; after_thing: string }>(
        'SELECT id, source, after_thing, before_thing FROM crawl_gaps ORDER BY id',
      );
    // On a busy machine the listing may have moved on before.
    const { rows: known } = await gapsNow();
    const { rows: cursors } = await database.pool.query(
      `SELECT position FROM crawl_cursors WHERE source = 'listings:comments'`,
    );
    await simulator.fault({ kind: 'outage', seconds: 3, path: '/r/all/comments' });
    const from = (await simulator.stats()).emitted;
    await eventually('the listing moves on', async () => (await simulator.stats()).emitted > from + 3_500);
    await grows('the crawl goes on', publisher, 2_000);
    const unchanged = await database.pool.query(
      `SELECT position FROM crawl_cursors WHERE source = 'listings:comments'`,
    );
    expect(unchanged.rows).toEqual(cursors);
    expect((await gapsNow()).rows).toEqual(known);
    proxy.comeBack();
    const gaps = await eventually('the gap is written', async () => {
      const { rows } = await gapsNow();
      // It may extend a known one.
      const written = rows.filter((row) => !known.some((gap) => isDeepStrictEqual(row, gap)));
      return written.length > 0 && written;
    });
    expect(new Set(gaps.map(({ source }) => source))).toEqual(new Set(['listings:comments']));
    expect(publisher.items.has(gaps[0]?.after_thing ?? '')).toBe(true);
    expect(crawler.errors).toEqual([]);
  });

  test('two processes keep their sources and know of each other while Postgres takes two seconds for each answer', async () => {
    await startForum({ SIMULATOR_RATE: '60' });
    const crawls = [await startCrawl(), await startCrawl()];
    const holders = await eventually('both hold their part', bothHoldTheirPart);
    // To open a connection takes several answers, so all that there may be are opened before.
    await Promise.all(
      crawls.flatMap(({ pool }) => Array.from({ length: 10 }, () => pool.query('SELECT pg_sleep(0.5)'))),
    );
    for (const { proxy } of crawls) proxy.delayAnswers(2_000);
    const slowSince = new Date();
    const members = [...new Set(holders.map(({ holder }) => holder))].map((holder) => `${MEMBERS}${holder} ${holder}`);
    const wanted = [...holders.map(({ name, holder }) => `${name} ${holder}`), ...members];
    let looks = 0;
    const found = new Map(wanted.map((lease) => [lease, 0]));
    await eventually(
      'the cursors are saved for a while',
      async () => {
        const { rows } = await database.pool.query<{ name: string; holder: string }>(VALID_LEASES);
        looks += 1;
        const valid = new Set(rows.map(({ name, holder }) => `${name} ${holder}`));
        for (const lease of wanted) if (valid.has(lease)) found.set(lease, found.get(lease)! + 1);
        return cursorsSavedAfter(new Date(slowSince.getTime() + 10_000));
      },
      60_000,
    );
    // On a busy machine one may expire for a moment. Renewed less often than answered, they would do so for seconds.
    for (const [lease, times] of found) expect(times / looks, lease).toBeGreaterThan(0.8);
  });

  test('ends with one process for each source after two crawled it during the outage', async () => {
    await startForum({ SIMULATOR_RATE: '60' });
    const first = await startCrawl();
    await eventually('the first is at work', () => first.crawler.ready() && first.publisher.items.size > 30);
    const second = await startCrawl();
    await eventually('the second stands by', () => second.crawler.ready());
    first.proxy.freeze();
    await grows('the second takes over', second.publisher, 60);
    await grows('the first goes on as well', first.publisher, 60);
    first.proxy.thaw();
    const comments = ({ publisher }: Crawl): string[] =>
      [...publisher.items.keys()].filter((name) => name.startsWith('t1_'));
    await eventually('one of them publishes all comments', async () => {
      const before = [comments(first).length, comments(second).length];
      await eventually('more comments', () => comments(first).length + comments(second).length > sum(before) + 90);
      return comments(first).length === before[0] || comments(second).length === before[1];
    });
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
