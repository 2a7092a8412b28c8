import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { CommunityCount } from '../../../shared/stores/crawl/community-rates.ts';
import {
  addCommunityCounts,
  readCommunityRates,
  trimCommunityRates,
} from '../../../shared/stores/crawl/community-rates.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.pool.query('TRUNCATE community_rates');
});
afterAll(async () => {
  await database.drop();
});

function count(subreddit: string, comments: number, more: Partial<CommunityCount> = {}): CommunityCount {
  return { subreddit, comments, posts: 0, checked: 0, missed: 0, ...more };
}

/** As if everything had been counted so many seconds earlier. */
async function age(seconds: number): Promise<void> {
  await database.pool.query(
    `UPDATE community_rates SET first_at = first_at - make_interval(secs => $1),
                                updated_at = updated_at - make_interval(secs => $1)`,
    [seconds],
  );
}

async function readAll() {
  const slices = await Promise.all(
    [0, 1, 2, 3].map((slice) => readCommunityRates(database.pool, { slice, slices: 4 })),
  );
  return { slices, byName: new Map(slices.flatMap(({ communities }) => communities).map((c) => [c.subreddit, c])) };
}

test('adds counts of several processes and reads them as rates over the time that was measured', async () => {
  await addCommunityCounts(database.pool, [count('tea', 300, { posts: 30 }), count('rust', 60)]);
  await age(3600);
  await Promise.all([
    addCommunityCounts(database.pool, [count('tea', 300), count('rust', 0, { checked: 8, missed: 2 })]),
    addCommunityCounts(database.pool, [count('rust', 60), count('tea', 0)]),
  ]);
  const { byName } = await readAll();
  // Six hundred in an hour, of which half are counted for an hour and have decayed by 4 %.
  expect((byName.get('tea')?.comments ?? 0) * 3600).toBeCloseTo(600, -1);
  expect((byName.get('tea')?.posts ?? 0) * 3600).toBeCloseTo(29.4, 0);
  expect(byName.get('rust')?.checked).toBeCloseTo(8);
  expect(byName.get('rust')?.missed).toBeCloseTo(2);
});

test('forgets a community that has become silent', async () => {
  await addCommunityCounts(database.pool, [count('tea', 1000)]);
  await age(5 * 86_400);
  const { byName } = await readAll();
  expect((byName.get('tea')?.comments ?? 1) * 86_400).toBeLessThan(10);
});

test('puts each community into one slice, and tells the part of a slice in all comments', async () => {
  const names = Array.from({ length: 400 }, (_, n) => `c${n}`);
  await addCommunityCounts(
    database.pool,
    names.map((name) => count(name, 10)),
  );
  const { slices, byName } = await readAll();
  expect(byName.size).toBe(400);
  expect(slices.reduce((sum, { communities }) => sum + communities.length, 0)).toBe(400);
  for (const { communities, share } of slices) {
    expect(communities.length).toBeGreaterThan(60);
    expect(share).toBeCloseTo(communities.length / 400);
  }
});

test('keeps the most active communities', async () => {
  await addCommunityCounts(
    database.pool,
    Array.from({ length: 50 }, (_, n) => count(`c${n}`, n)),
  );
  expect(await trimCommunityRates(database.pool, 10)).toBe(40);
  const { byName } = await readAll();
  expect([...byName.keys()].sort()).toEqual(Array.from({ length: 10 }, (_, n) => `c${40 + n}`));
});
