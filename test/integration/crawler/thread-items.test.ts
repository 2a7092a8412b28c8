import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { blankMatchedItems, findReadableMatches, findSeenAsRemoved } from '../../../shared/crawl/crawl-cursors.ts';
import {
  countArchivedComments,
  countItemsSeenAfter,
  lastSightOfPosts,
  readArchivedComments,
  readArchivedPosts,
  readCommentActivity,
  readSeenItems,
} from '../../../shared/crawl/thread-items.ts';
import { storeItems } from '../../../shared/matches/recording.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const NOW = Date.now();
let database: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestArchive(database.pool);
  clickhouse = archive.client;
});

beforeEach(async () => {
  for (const table of ['items', 'thread_items', 'item_sightings'])
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
});

afterAll(async () => {
  await archive.drop();
  await database.drop();
});

const iso = (at: number): string => new Date(at).toISOString();

function thing(name: string, at: { created: number; seen: number; post?: string }): ForumItem {
  const times = { created_utc: iso(at.created), first_seen_at: iso(at.seen) };
  return forumItemOf(name, at.post === undefined ? times : { ...times, post_id: at.post });
}

test('counts the comments of posts that were created until a time, however often they were archived', async () => {
  const items = [
    thing('t3_a', { created: NOW - HOUR, seen: NOW - HOUR }),
    thing('t1_1', { post: 'a', created: NOW - 60_000, seen: NOW - 59_000 }),
    thing('t1_2', { post: 'a', created: NOW - 30_000, seen: NOW - 29_000 }),
    thing('t1_3', { post: 'b', created: NOW - 30_000, seen: NOW - 29_000 }),
  ];
  await insertItems(database.pool, clickhouse, items);
  await insertItems(database.pool, clickhouse, items);
  const count = (until: number) =>
    countArchivedComments(
      clickhouse,
      ['a', 'b', 'c'].map((postId) => ({ postId, until })),
    );
  expect(await count(NOW)).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  );
  expect(await count(NOW - 45_000)).toEqual(new Map([['a', 1]]));
  const each = [
    ...Array.from({ length: 300 }, (_, index) => ({ postId: `of nobody ${index}`, until: NOW })),
    { postId: 'b', until: NOW },
    { postId: 'a', until: NOW - 45_000 },
  ];
  expect(await countArchivedComments(clickhouse, each)).toEqual(
    new Map([
      ['a', 1],
      ['b', 1],
    ]),
  );
});

test('keeps the earliest sight of an item that arrives again, also on another day', async () => {
  const seen = NOW - 26 * HOUR;
  const again = [seen + 10 * SECOND, NOW, seen, seen + 5 * SECOND];
  for (const at of again) {
    const item = thing('t1_1', { post: 'a', created: seen - 1000, seen: at });
    await insertItems(database.pool, clickhouse, [{ ...item, source: at === seen ? 'listings' : 'audit' }]);
  }
  await clickhouse.command({ query: 'OPTIMIZE TABLE thread_items FINAL' });
  expect(await readArchivedComments(clickhouse, 'a')).toEqual(
    new Map([['t1_1', { seenAt: seen, createdAt: seen - 1000, source: 'listings' }]]),
  );
});

test('lists posts by their first sight, and the activity of a time', async () => {
  await insertItems(database.pool, clickhouse, [
    thing('t3_b', { created: NOW - 50_000, seen: NOW - 40_000 }),
    thing('t3_a', { created: NOW - 90_000, seen: NOW - 80_000 }),
    thing('t3_old', { created: NOW - 40 * HOUR, seen: NOW - 30_000 }),
    thing('t1_1', { post: 'a', created: NOW - 45_000, seen: NOW - 44_000 }),
    thing('t1_2', { post: 'a', created: NOW - 4_000, seen: NOW - 3_000 }),
    thing('t1_3', { post: 'z', created: NOW - 5_000, seen: NOW - 3_000 }),
  ]);
  const day = { from: NOW - HOUR, to: NOW, createdFrom: NOW - 24 * HOUR, limit: 10 };
  const [a, b] = await readArchivedPosts(clickhouse, day);
  expect(a).toEqual({ postId: 'a', createdAt: NOW - 90_000, seenAt: NOW - 80_000, subreddit: 'metals' });
  expect(b).toEqual({ postId: 'b', createdAt: NOW - 50_000, seenAt: NOW - 40_000, subreddit: 'metals' });
  expect(await readArchivedPosts(clickhouse, { ...day, limit: 1 })).toEqual([a]);
  const activity = await readCommentActivity(clickhouse, { from: NOW - 10_000, to: NOW, limit: 10 });
  expect(activity.sort((x, y) => (x.postId < y.postId ? -1 : 1))).toEqual([
    { postId: 'a', comments: 1, oldestAt: NOW - 4_000, subreddit: 'metals' },
    { postId: 'z', comments: 1, oldestAt: NOW - 5_000, subreddit: 'metals' },
  ]);
  const later = { alsoFrom: NOW - 60_000, from: NOW - 2_000, to: NOW, limit: 10 };
  const counts = (await readCommentActivity(clickhouse, later)).map(({ postId, comments }) => [postId, comments]);
  expect(counts.toSorted()).toEqual([
    ['a', 0],
    ['z', 0],
  ]);
});

test('reads items page by page in the order of their first sight, all or a share of them', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `t1_${index.toString(36)}`);
  // Ten items in each millisecond: a page may end between two of them.
  const items = names.map((name, index) =>
    thing(name, { post: 'a', created: NOW - HOUR, seen: NOW - HOUR + Math.floor(index / 10) }),
  );
  await insertItems(database.pool, clickhouse, items);
  const read = async (share: number): Promise<string[]> => {
    const found: string[] = [];
    let after = { thingId: '', seenAt: 0 };
    for (;;) {
      const page = await readSeenItems(clickhouse, { after, to: NOW, share, limit: 37 });
      found.push(...page.map(({ thingId }) => thingId));
      const last = page.at(-1);
      if (last === undefined) return found;
      after = last;
    }
  };
  expect((await read(1)).sort()).toEqual([...names].sort());
  const some = await read(0.3);
  expect(some.length).toBeGreaterThan(50);
  expect(some.length).toBeLessThan(130);
  expect(await read(0.3)).toEqual(some);
});

test('counts what was found of a gap after it opened', async () => {
  await insertItems(database.pool, clickhouse, [
    thing('t1_1', { post: 'a', created: NOW - 60_000, seen: NOW - 59_000 }),
    thing('t1_2', { post: 'a', created: NOW - 55_000, seen: NOW - 1_000 }),
    thing('t1_3', { post: 'a', created: NOW - 5_000, seen: NOW - 1_000 }),
  ]);
  // Another source saw it again.
  await insertItems(database.pool, clickhouse, [thing('t1_1', { post: 'a', created: NOW - 60_000, seen: NOW - 900 })]);
  const gap = { createdFrom: NOW - 60_000, createdTo: NOW - 50_000, seenAfter: NOW - 20_000 };
  expect(await countItemsSeenAfter(clickhouse, { kind: 'comment', ...gap })).toBe(1);
  const inCommunities = (communities: string[]) =>
    countItemsSeenAfter(clickhouse, { kind: 'comment', ...gap, communities });
  expect([await inCommunities(['tea', 'Metals']), await inCommunities(['tea'])]).toEqual([1, 0]);
  expect(await countItemsSeenAfter(clickhouse, { kind: 'post', ...gap })).toBe(0);
  expect(await lastSightOfPosts(clickhouse, gap)).toBeUndefined();
  for (const seen of [NOW - 2_000, NOW - 800]) {
    await insertItems(database.pool, clickhouse, [thing('t3_p', { created: NOW - 55_000, seen })]);
  }
  expect(await lastSightOfPosts(clickhouse, gap)).toBe(NOW - 2_000);
});

describe('items seen as removed', () => {
  const DAY_MS = 86_400_000;

  test('an item whose text the archive still has was not removed when first seen, even if a later sight was', async () => {
    const seen = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
    const first = [
      forumItemOf('t1_always', { body: '[removed]', first_seen_at: seen(1) }),
      forumItemOf('t1_staff', {
        body: ' [ Removed by Reddit on account of violating the rules. ]\n',
        first_seen_at: seen(1),
      }),
      forumItemOf('t1_later', { body: 'words', first_seen_at: seen(1) }),
      forumItemOf('t1_shown', { body: 'words', first_seen_at: seen(1) }),
    ];
    await insertItems(database.pool, clickhouse, first);
    const again = [forumItemOf('t1_later', { body: '[removed]', first_seen_at: seen(0) })];
    await insertItems(database.pool, clickhouse, again);
    const ids = ['t1_always', 't1_later', 't1_shown', 't1_staff', 't1_unknown'];
    expect(await findSeenAsRemoved(clickhouse, ids)).toEqual(new Set(['t1_always', 't1_staff']));
  });

  test('stored content can be read unless it is blank or was removed when first seen', async () => {
    const stored = [
      forumItemOf('t1_blanked', { body: 'words', author: 'somebody' }),
      forumItemOf('t1_readable', { body: 'words', author: 'somebody' }),
      forumItemOf('t1_removed', { body: '[removed]', author: '[deleted]' }),
      forumItemOf('t3_link', { body: '', author: 'somebody' }),
    ];
    await storeItems(database.pool, stored);
    await blankMatchedItems(database.pool, ['t1_blanked']);
    const ids = [...stored.map(({ thing_id: id }) => id), 't1_unknown'];
    expect(await findReadableMatches(database.pool, ids)).toEqual(new Set(['t1_readable', 't3_link']));
  });
});
