import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import {
  countThingsSeenAfter,
  lastSightOfPosts,
  readArchivedPosts,
  readCommentActivity,
  readThingsSeen,
} from '../../../shared/stores/crawl/thread-items.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** Twenty hours of an item every tenth of a second; every tenth is a post. */
const ITEMS = 720_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** In the evening of yesterday, so that all of them are in the part of one day. */
const TO = Math.floor(Date.now() / DAY) * DAY - HOUR;
const MINUTE = 60_000;
const MOST_ROWS = ITEMS / 10;

let database: TestDatabase;
let archive: TestArchive;
/** Its statements fail when they read more rows than `MOST_ROWS`. */
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestArchive(database.pool);
  // A comment may belong to any post before it.
  const columns = `if(number % 10 = 0, intDiv(number, 10), cityHash64(number) % (intDiv(number, 10) + 1)) AS post,
    concat('p', leftPad(toString(post), 8, '0')) AS post_id,
    if(number % 10 = 0, concat('t3_', post_id), concat('t1_', toString(number))) AS thing_id,
    if(number % 10 = 0, 'post', 'comment') AS kind, 'listings' AS source, 'metals' AS subreddit,
    fromUnixTimestamp64Milli(toInt64(${TO} - (${ITEMS} - number) * 100), 'UTC') AS first_seen_at,
    first_seen_at - INTERVAL 1 SECOND AS created_utc`;
  for (const table of ['item_sightings', 'thread_items']) {
    const names = `post_id, thing_id, kind, source, subreddit, first_seen_at, created_utc`;
    const query = `INSERT INTO ${table} (${names}) SELECT * EXCEPT (post) FROM (SELECT ${columns} FROM numbers(${ITEMS}))`;
    await archive.client.command({ query });
  }
  clickhouse = new Proxy(archive.client, {
    get(client, name, receiver) {
      if (name !== 'query') return Reflect.get(client, name, receiver) as unknown;
      return (params: Parameters<ClickHouseClient['query']>[0]) => {
        const settings = { ...params.clickhouse_settings, max_rows_to_read: String(MOST_ROWS) };
        return client.query({ ...params, clickhouse_settings: settings });
      };
    },
  });
});
afterAll(async () => {
  await archive.drop();
  await database.drop();
});

const lastMinute = { from: TO - MINUTE, to: TO + MINUTE, createdFrom: 0, limit: 1_000 };
const inLastMinute = { createdFrom: TO - MINUTE, createdTo: TO + MINUTE };

test.each<[string, () => Promise<unknown>, unknown]>([
  ['the posts', async () => (await readArchivedPosts(clickhouse, lastMinute)).length, 60],
  [
    'the activity',
    async () => (await readCommentActivity(clickhouse, lastMinute)).reduce((sum, { comments }) => sum + comments, 0),
    540,
  ],
  [
    'the first things',
    async () => {
      const after = { seenAt: TO - MINUTE, thingId: '' };
      return (await readThingsSeen(clickhouse, { after, to: TO + MINUTE, share: 1, limit: 100 })).length;
    },
    100,
  ],
  [
    'what a gap was filled with',
    () => countThingsSeenAfter(clickhouse, { kind: 'comment', ...inLastMinute, seenAfter: TO - MINUTE }),
    531,
  ],
  ['the last sight of a post', () => lastSightOfPosts(clickhouse, inLastMinute), TO - 1_000],
])('%s of a minute is read without the rest of the day', async (_, ask, answer) => {
  expect(await ask()).toEqual(answer);
});
