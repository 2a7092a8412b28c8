import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { findReadableMatches, findSeenAsRemoved } from '../../../shared/stores/crawl/rechecks.ts';
import { blankMatchedItems } from '../../../shared/stores/crawl/removals.ts';
import { storeItems } from '../../../shared/stores/matches/recording-items.ts';
import { insertItems } from '../../../shared/stores/archive/archive-items.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestArchive(database.pool);
  clickhouse = archive.client;
});
afterAll(async () => {
  await archive.drop();
  await database.drop();
});

test('a thing whose text the archive still has was not removed when first seen, even if a later sight was', async () => {
  const seen = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const first = [
    forumItemOf('t1_always', { body: '[removed]', first_seen_at: seen(1) }),
    forumItemOf('t1_staff', { body: ' [ Removed by Reddit ]', first_seen_at: seen(1) }),
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
