import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SourceShares } from '../../../services/crawler/leases/source-shares.ts';
import { takeLease } from '../../../shared/stores/upkeep/leases.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { CollectingPublisher, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';

const SOURCES = ['post-ids', 'listings'];

describe('the sources of several crawler processes', () => {
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

  async function startOne(publisher: CollectingPublisher): Promise<{ stop: () => Promise<void> }> {
    const crawler = await startTestCrawler({ url: simulator.url, pool: database.pool, publisher, sources: SOURCES });
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (!isStopped) await crawler.stop();
      isStopped = true;
    };
    cleanUp.push(stop);
    await eventually('the crawl begins', () => crawler.ready());
    return { stop };
  }

  /** How many sources each holder has, fewest first. */
  async function held(): Promise<number[]> {
    const { rows } = await database.pool.query<{ sources: number }>(
      `SELECT count(*)::int AS sources FROM leases
        WHERE starts_with(name, 'crawl:') AND lease_until > service_now() GROUP BY holder`,
    );
    return rows.map(({ sources }) => sources).sort((a, b) => a - b);
  }

  test('are divided evenly when a process joins, and return to the one that stays; nothing is missed', async () => {
    simulator = await startSimulatorProcess({ SIMULATOR_HISTORY: '50', SIMULATOR_LATE: '0', SIMULATOR_RATE: '50' });
    cleanUp.push(() => simulator.stop());
    const publisher = new CollectingPublisher();
    await startOne(publisher);
    const owedSince = Date.now();
    const all = (await held()).reduce((sum, sources) => sum + sources, 0);
    expect(all).toBeGreaterThan(2);
    const second = await startOne(publisher);
    const half = Math.ceil(all / 2);
    await eventually('both hold their part', async () => (await held()).join() === `${all - half},${half}`);
    await second.stop();
    await eventually('the first holds all again', async () => (await held()).join() === String(all));
    const until = Date.now();
    await eventually('everything emitted is published', () => {
      const owed = simulator.emitted().filter(({ at }) => at >= owedSince && at < until);
      return owed.length > 300 && owed.every(({ name }) => publisher.items.has(name));
    });
  });
});

describe('SourceShares', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.drop();
  });

  const listening: string[] = [];
  /** A process that joins. */
  function join(holder: string) {
    const stopping = new AbortController();
    const shares = new SourceShares({
      db: database.pool,
      holder,
      sources: ['x', 'y', 'z'],
      takeLease: (lease) => takeLease(database.pool, lease),
      clock: Date.now,
      listen: () => {
        listening.push(`${holder} begins`);
        return {
          stop: () => Promise.resolve(void listening.push(`${holder} ends`)),
        };
      },
      logger: silentLogger(),
    });
    const running = shares.run(stopping.signal);
    const leave = async (): Promise<void> => {
      stopping.abort();
      await running;
    };
    return { shares, leave };
  }

  test('count each other, and listen only while there are others', async () => {
    const a = join('a');
    await eventually('a counts itself', () => a.shares.limit === 3);
    const b = join('b');
    await eventually('each counts the other', () => a.shares.limit === 2 && b.shares.limit === 2);
    expect(listening.toSorted()).toEqual(['a begins', 'b begins']);
    await b.leave();
    await eventually('a is alone', () => a.shares.limit === 3);
    // b may only be slow.
    expect(listening).not.toContain('a ends');
    await a.leave();
    expect(listening.toSorted()).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect((await database.pool.query('SELECT name FROM leases')).rows).toEqual([]);
  });
});
