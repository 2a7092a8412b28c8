import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import { exchangeReports } from '../../../shared/crawl/forum-calls.ts';
import { startBudgetExchange } from '../../../shared/forum-client/budget-exchange.ts';
import { CallBudget } from '../../../shared/forum-client/call-budget.ts';
import { DEFAULT_SHARES } from '../../../shared/forum-client/lanes.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await db.drop();
});

/** The budget of one process, exchanged over its own connection. */
async function startProcess(): Promise<{ budget: CallBudget; exchange: Running }> {
  const budget = new CallBudget(['client'], DEFAULT_SHARES);
  const pool: Pool = createPool({ url: db.url, name: 'test-budget', logger: silentLogger(), max: 1 });
  const exchange = await startBudgetExchange({
    budget,
    exchange: (own) => exchangeReports(pool, own),
    clock: systemClock,
    logger: silentLogger(),
  });
  stops.push(
    () => pool.end(),
    () => exchange.stop(),
  );
  return { budget, exchange };
}

/** Makes one call; the response states the rest of the window. */
function call(budget: CallBudget, lane: 'live', remaining: string): void {
  const taken = budget.take({ lane }, Date.now());
  if (taken.client === undefined) throw new Error('the call was refused');
  budget.settle(taken.client, { lane }, { remaining, used: '0', reset: '600' }, Date.now());
}

/** Requests far more live calls than the budget allows, also when timers are late. */
function crawl(budget: CallBudget): void {
  const timer = setInterval(() => {
    for (let claim = 0; claim < 20; claim++) budget.take({ lane: 'live' }, Date.now());
  }, 20);
  stops.push(async () => {
    clearInterval(timer);
  });
}

const reading = (budget: CallBudget): number => budget.perSecond('reading', Date.now());

describe('the budget exchange of two processes', () => {
  test("shares each client's remaining budget and demand, and drops a process that has ended", async () => {
    const crawler = await startProcess();
    call(crawler.budget, 'live', '6000');
    const api = await startProcess();
    await eventually('the window is known', () => reading(api.budget) !== Infinity);
    expect(reading(api.budget)).toBeGreaterThan(5);
    crawl(crawler.budget);
    await eventually('readers have only their share', () => reading(api.budget) < 2.5);
    expect(crawler.budget.perSecond('live', Date.now())).toBeGreaterThan(5);
    await crawler.exchange.stop();
    await db.setShift('11 seconds');
    await eventually('all is lent to readers', () => reading(api.budget) > 5);
    await db.setShift('2 minutes');
    const rows = async () => (await db.pool.query('SELECT 1 FROM budget_reports')).rowCount;
    await eventually('the row is deleted', async () => (await rows()) === 1);
    await db.setShift('0');
  });
});
