import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { CollectingPublisher, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
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
    const expectedSince = Date.now();
    const all = (await held()).reduce((sum, sources) => sum + sources, 0);
    expect(all).toBeGreaterThan(2);
    const second = await startOne(publisher);
    const half = Math.ceil(all / 2);
    await eventually('both hold their part', async () => (await held()).join() === `${all - half},${half}`);
    await second.stop();
    await eventually('the first holds all again', async () => (await held()).join() === String(all));
    const until = Date.now();
    await eventually('everything emitted is published', () => {
      const expected = simulator.emitted().filter(({ at }) => at >= expectedSince && at < until);
      return expected.length > 300 && expected.every(({ name }) => publisher.items.has(name));
    });
  });
});
