import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveCoverageHours } from '../../../shared/stores/crawl/coverage-hours.ts';
import { closeGap, openGaps } from '../../../shared/stores/crawl/crawl-gaps.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function gaps(...options: string[]) {
  const { code, out, err } = await runAdminHere(['gaps', ...options], { DATABASE_URL: db.url });
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  return { code, err, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('prints gaps as JSON lines: of the last day, of other hours, or those open now', async () => {
  const gap = { source: 'listings:new', afterThing: 't3_a', afterAt: 1_700_000_000_000 };
  const bounds = { beforeThing: undefined, beforeAt: undefined };
  await openGaps(db.pool, [
    { ...gap, ...bounds, reason: 'closed long ago', ageMs: 90 * HOUR },
    { ...gap, ...bounds, reason: 'open for long', ageMs: 80 * HOUR },
    { ...gap, ...bounds, reason: 'closed now', ageMs: 70 * HOUR },
  ]);
  await db.pool.query(
    `UPDATE crawl_gaps SET outcome = 'given_up', filled_at = opened_at WHERE reason = 'closed long ago'`,
  );
  await closeGap(db.pool, 3, { found: 12, outcome: 'filled' });
  const reasons = async (...options: string[]) => (await gaps(...options)).lines.map(({ reason }) => reason);
  expect(await reasons()).toEqual(['closed now', 'open for long']);
  expect(await reasons('--hours', '1000')).toEqual(['closed now', 'open for long', 'closed long ago']);
  const { lines } = await gaps('--open');
  expect(lines).toEqual([
    {
      id: 2,
      source: 'listings:new',
      reason: 'open for long',
      opened_at: expect.any(String) as string,
      created_from: '2023-11-14T22:13:20.000Z',
      after: 't3_a',
      found: 0,
    },
  ]);
  expect((await gaps()).lines[0]).toMatchObject({ outcome: 'filled', found: 12 });
});

test('prints the coverage of the last hours, newest first', async () => {
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  const coverage = {
    seen: { listings: { posts: 2, comments: 30 }, threads: { posts: 0, comments: 3 } },
    late: 1,
    lags: { 25: 32 },
    tombstones: 4,
    posts: { found: 99, unread: 1 },
    comments: { share: 0.98765, low: 0.9, high: 1, threads: 12, comments: 33 },
  };
  const stored = { archivedRows: 35, coverage, callsPerSecond: null };
  await saveCoverageHours(db.pool, [
    { ...stored, hour: new Date(hour) },
    { ...stored, hour: new Date(hour - HOUR), coverage: { ...coverage, posts: null, comments: null } },
    { ...stored, hour: new Date(hour - 30 * HOUR) },
  ]);
  const { code, out } = await runAdminHere(['coverage'], { DATABASE_URL: db.url });
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  const [newest, previous] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect([code, lines.length]).toEqual([0, 2]);
  expect(newest).toMatchObject({
    hour: new Date(hour).toISOString(),
    posts: 2,
    comments: 33,
    late: 1,
    removed: 4,
    posts_percent: 99,
    comments_percent: 98.76,
    comments_low: 90,
    comments_high: 100,
    lag_p50: expect.any(Number) as number,
  });
  expect(previous).toMatchObject({ comments: 33, gaps_opened: 0 });
  expect(previous).not.toHaveProperty('posts_percent');
});

test.each([
  [['--hours', '2161'], '--hours: must be an integer from 1 to 2160.'],
  [['--hours', '1', '--open'], '--open lists gaps of any age'],
  [['now'], 'gaps: print what the crawl may have missed'],
])('refuses %j', async (options, message) => {
  const { code, err, lines } = await gaps(...options);
  expect([code, lines]).toEqual([1, []]);
  expect(err).toContain(message);
});
