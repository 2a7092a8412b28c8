import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import type { UnknownPosts } from '../../../services/crawler/coverage/audit-source.ts';
import { postGaps } from '../../../services/crawler/coverage/audit-source.ts';
import { GapRecovery } from '../../../services/crawler/threads/gap-recovery.ts';
import { ThreadSweep } from '../../../services/crawler/threads/thread-sweep.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { listGaps, openGaps } from '../../../shared/crawl/crawl-gaps.ts';
import type { ListedGap } from '../../../shared/crawl/crawl-gaps.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = Date.now();

let database: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;
let sweep: ThreadSweep;
let recovery: GapRecovery;

beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestArchive(database.pool);
  clickhouse = archive.client;
});
beforeEach(async () => {
  await database.pool.query('TRUNCATE crawl_gaps');
  for (const table of ['items', 'thread_items', 'item_sightings']) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
  sweep = new ThreadSweep();
  recovery = new GapRecovery(sweep, { clickhouse, db: database.pool, logger: silentLogger() });
});
afterAll(async () => {
  await archive.drop();
  await database.drop();
});

/** Scans the gaps, and lists them afterwards. */
async function look(now: number): Promise<ListedGap[]> {
  await recovery.scans.next(now)?.run(new AbortController().signal);
  return listGaps(database.pool, { from: NOW - 30 * DAY, to: NOW + DAY, limit: 100 });
}

function openGap(source: string, ageMs: number, communities?: string[]): Promise<void> {
  const [afterAt, beforeAt] = [NOW - ageMs - 2 * MINUTE, NOW - ageMs - MINUTE];
  const gap = {
    source,
    reason: 'overflow',
    afterThing: undefined,
    afterAt,
    beforeThing: undefined,
    beforeAt,
    communities,
  };
  // The database counts the age from its own now, and on a loaded machine this file was loaded a minute before.
  return openGaps(database.pool, [{ ...gap, ageMs: ageMs + Date.now() - NOW }]);
}

/** Archives a comment that was seen now and created long before any gap. */
function archiveComment(): Promise<void> {
  const times = { created_utc: new Date(NOW - DAY).toISOString(), first_seen_at: new Date(NOW).toISOString() };
  return insertItems(database.pool, clickhouse, [forumItemOf('t1_seen', times)]);
}

test('closes a gap with what was found, once every post that may have had comments in it is checked and read', async () => {
  await openGap('listings:comments', 5 * MINUTE);
  sweep.add({ postId: 'a', createdAt: NOW - 30 * MINUTE, comments: 0 });
  expect(await look(NOW)).toMatchObject([{ closedAt: undefined }]);
  expect(sweep.nextCheck(NOW, 10)).toEqual(['a']);
  sweep.learnChecks(NOW, [{ postId: 'a', comments: 1, archived: 0 }]);
  sweep.nextCheck(NOW + MINUTE, 10);
  expect(sweep.waitingForGap((await look(NOW + MINUTE))[0]!.id)).toBe(1);
  expect(sweep.nextReading(NOW + MINUTE)).toMatchObject({ postId: 'a', deficit: 1 });
  const created = new Date(NOW - 6.5 * MINUTE).toISOString();
  await insertItems(database.pool, clickhouse, [forumItemOf('t1_found', { post_id: 'a', created_utc: created })]);
  await archiveComment();
  sweep.learnReading('a', { readAt: NOW + MINUTE, comments: 1, known: 1, found: 1, unread: 0 });
  sweep.nextCheck(NOW + 2 * MINUTE, 10);
  expect(await look(NOW + 2 * MINUTE)).toMatchObject([{ outcome: 'filled', found: 1 }]);
});

test('tells the audit the times whose posts are not all known', async () => {
  await openGap('listings:comments', 20_000);
  await openGap('post-ids', 5 * MINUTE);
  const told: UnknownPosts[] = [];
  const gaps = postGaps(database.pool, (times) => told.push(...times));
  const look = gaps.next(NOW);
  expect(gaps.next(NOW)).toBeUndefined();
  await look!.run(new AbortController().signal);
  expect(told).toEqual([{ afterAt: NOW - 7 * MINUTE, beforeAt: NOW - 6 * MINUTE }]);
  expect(gaps.next(NOW + 1_000)).toBeUndefined();
  expect(gaps.next(NOW + 10_000)).toBeDefined();
});

test('waits while the source may still extend the gap, leaves gaps of post ids alone, and gives up after days', async () => {
  await openGap('listings:comments', 20_000);
  await openGap('post-ids', 5 * MINUTE);
  await openGap('listings:new', 4 * DAY);
  await look(NOW);
  sweep.nextCheck(NOW + 6_000, 10);
  const gaps = await look(NOW + 20_000);
  expect(gaps.map(({ source, outcome }) => [source, outcome])).toEqual([
    ['listings:comments', undefined],
    ['post-ids', undefined],
    ['listings:new', 'given_up'],
  ]);
  await archiveComment();
  sweep.nextCheck(NOW + 2 * MINUTE, 10);
  expect(await look(NOW + 2 * MINUTE)).toMatchObject([{ outcome: 'filled', found: 0 }, {}, {}]);
});

test('waits until the archive has what was seen after the gap, and until the posts of its time are caught up', async () => {
  await openGap('listings:comments', 2 * MINUTE);
  await openGap('post-ids', 2 * MINUTE);
  const outcomeAt = async (now: number): Promise<unknown> => {
    await look(now - 20_000);
    sweep.nextCheck(now, 10);
    const gaps = await look(now);
    return gaps.find(({ source }) => source === 'listings:comments')?.outcome;
  };
  await archiveComment();
  expect(await outcomeAt(NOW + 2 * MINUTE)).toBeUndefined();
  await database.pool.query(`DELETE FROM crawl_gaps WHERE source = 'post-ids'`);
  await clickhouse.command({ query: 'TRUNCATE TABLE item_sightings' });
  expect(await outcomeAt(NOW + 4 * MINUTE)).toBeUndefined();
  await archiveComment();
  expect(await outcomeAt(NOW + 6 * MINUTE)).toBe('filled');
});
