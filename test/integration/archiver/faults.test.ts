import { createClient } from '@clickhouse/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import * as groups from '../../../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, FORUM_REMOVALS } from '../../../schemas/messages/topics.ts';
import { insertItems } from '../../../shared/stores/archive/archive-items.ts';
import { startArchiver } from '../../../services/archiver/start-archiver.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { consumerLag } from '../../../shared/kafka/topics/topic-admin.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { storeItems } from '../../../shared/stores/matches/recording-items.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem, forumItemOf } from '../../support/samples/forum-items.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await Pipeline.create();
});
afterEach(() => pipeline.drop());

async function publishItems(items: readonly ForumItem[]): Promise<void> {
  for (const { name } of [FORUM_POSTS, FORUM_COMMENTS]) {
    const mine = items.filter(({ kind }) => (kind === 'post') === (name === FORUM_POSTS.name));
    const records = mine.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) }));
    if (records.length > 0) await pipeline.kafka.publisher.publish(name, records);
  }
}

async function publishRemovals(ids: readonly string[]): Promise<void> {
  const removed_at = new Date().toISOString();
  const records = ids.map((thing_id) => ({ key: thing_id, value: JSON.stringify({ v: 1, thing_id, removed_at }) }));
  await pipeline.kafka.publisher.publish(FORUM_REMOVALS.name, records);
}

async function caughtUp(group: string, ...topics: string[]): Promise<void> {
  await eventually(`${group} has committed everything`, async () => {
    const lags = await consumerLag(pipeline.kafka.kafka, { prefix: pipeline.kafka.prefix, group, topics });
    return lags.every(({ lag }) => lag === 0);
  });
}

const itemsCaughtUp = () => caughtUp(groups.ITEMS_ARCHIVER_GROUP, FORUM_POSTS.name, FORUM_COMMENTS.name);
const removalsCaughtUp = () => caughtUp(groups.REMOVALS_ARCHIVER_GROUP, FORUM_REMOVALS.name);

const archiveReady = Promise.resolve(true);

async function ask<T>(query: string): Promise<T[]> {
  return (await pipeline.clickhouse.query({ query, format: 'JSONEachRow' })).json<T>();
}

async function count(what: string): Promise<number> {
  const [row] = await ask<{ n: number }>(`SELECT count() AS n FROM ${what}`);
  return row!.n;
}

test('loses nothing and keeps running while ClickHouse goes away and comes back twice', async () => {
  const proxy = await TcpProxy.start(pipeline.clickhouseUrl);
  const clickhouse = createClickhouse(proxy.url, 'test');
  const { kafka, db } = pipeline;
  const archiver = await startArchiver({ ...kafka, pool: db.pool, clickhouse, archiveReady, logger: silentLogger() });
  let number = 0;
  const more = () => Array.from({ length: 50 }, () => commentItem(number++, 'rust'));
  for (let times = 0; times < 2; times++) {
    await publishItems(more());
    await itemsCaughtUp();
    proxy.goAway();
    const during = more();
    await publishItems(during);
    await publishRemovals([during[0]!.thing_id]);
    expect(await count('items FINAL')).toBe(times * 100 + 50);
    proxy.comeBack();
    await itemsCaughtUp();
    await removalsCaughtUp();
    expect(await count('items FINAL')).toBe(times * 100 + 100);
    expect(await count(`items FINAL WHERE body = ''`)).toBe(times + 1);
  }
  await archiver.stop();
  await clickhouse.close();
  await proxy.stop();
});

test.each(['has gone away', 'was never there'])(
  'deletes removed content from Postgres while ClickHouse %s, however much there is',
  async (state) => {
    const proxy = await TcpProxy.start(pipeline.clickhouseUrl);
    const clickhouse = createClickhouse(proxy.url, 'test');
    const ready = Promise.withResolvers<boolean>();
    if (state === 'has gone away') ready.resolve(true);
    const deps = { ...pipeline.kafka, pool: pipeline.db.pool, clickhouse, archiveReady: ready.promise };
    const archiver = await startArchiver({ ...deps, logger: silentLogger() });
    proxy.goAway();
    // More than one batch of each partition: one that fails is repeated, and nothing after it is read.
    const items = Array.from({ length: 1_600 }, (_, number) => forumItemOf(`t1_r${10_000 + number}`));
    await storeItems(pipeline.db.pool, items);
    await publishRemovals(items.map(({ thing_id }) => thing_id));
    await caughtUp(groups.REMOVALS_RECORDER_GROUP, FORUM_REMOVALS.name);
    const { rows } = await pipeline.db.pool.query<{ author: string; body: string; n: number }>(
      `SELECT author, body, count(*)::int AS n FROM matched_items NATURAL JOIN removed_things GROUP BY author, body`,
    );
    expect(rows).toEqual([{ author: '[deleted]', body: '', n: items.length }]);
    proxy.comeBack();
    ready.resolve(true);
    await removalsCaughtUp();
    await archiver.stop();
    await clickhouse.close();
    await proxy.stop();
  },
);

test('has every row once when all messages are consumed again from the beginning', async () => {
  await pipeline.start('archiver');
  await publishItems(Array.from({ length: 100 }, (_, number) => commentItem(number, 'rust')));
  await itemsCaughtUp();
  await pipeline.stopLast();
  const { kafka, prefix } = pipeline.kafka;
  await kafka.withAdmin((admin) =>
    admin.resetOffsets({
      groupId: prefix + groups.ITEMS_ARCHIVER_GROUP,
      topic: prefix + FORUM_COMMENTS.name,
      earliest: true,
    }),
  );
  await pipeline.start('archiver');
  await itemsCaughtUp();
  const { values } = await pipeline.kafka.metrics.archiverRows.get();
  // More when something is delivered again.
  expect(values.map(({ value }) => value >= 200)).toEqual([true]);
  expect(await count('items FINAL')).toBe(100);
});

test('archives items with characters and numbers that ClickHouse rejects, and the items of the same insert', async () => {
  await pipeline.start('archiver');
  await publishItems([
    forumItemOf('t3_a', { body: 'half a pair \ud83d and no more', title: '\udc00' }),
    forumItemOf('t3_b', { num_comments: -1, score: -7 }),
    forumItemOf('t3_c', { body: 'with \u0000 inside', url: null }),
    forumItemOf('t3_d', { body: 'tab\tquote"backslash\\ 🦀 \u2028' }),
    forumItemOf('t3_e', { created_utc: '1970-01-01T00:00:00.000Z' }),
  ]);
  await itemsCaughtUp();
  expect(
    await ask('SELECT thing_id, body, title, num_comments, score FROM items FINAL ORDER BY thing_id LIMIT 4'),
  ).toEqual([
    { thing_id: 't3_a', body: 'half a pair \ufffd and no more', title: '\ufffd', num_comments: 0, score: 1 },
    { thing_id: 't3_b', body: 'Iron, water and air make rust.', title: 'On rust', num_comments: 0, score: -7 },
    { thing_id: 't3_c', body: 'with \u0000 inside', title: 'On rust', num_comments: 0, score: 1 },
    { thing_id: 't3_d', body: 'tab\tquote"backslash\\ 🦀 \u2028', title: 'On rust', num_comments: 0, score: 1 },
  ]);
  expect(await count('items FINAL')).toBe(5);
});

test('blanks an item that is removed between the read of removals and the insert', async () => {
  await pipeline.start('archiver');
  const { pool } = pipeline.db;
  let lookUps = 0;
  const overtaken = {
    query: async (...args: [string, unknown[]]) => {
      const result = await pool.query(...args);
      if (++lookUps === 1) {
        await publishRemovals(['t1_1']);
        await removalsCaughtUp();
      }
      return result;
    },
  };
  await insertItems(overtaken as Queryable, pipeline.clickhouse, [commentItem(1, 'regretted'), commentItem(2, 'kept')]);
  expect(lookUps).toBe(2);
  expect(await ask('SELECT body, author, ver FROM items FINAL ORDER BY thing_id')).toEqual([
    { body: '', author: '[deleted]', ver: 2 },
    { body: 'kept', author: 'somebody', ver: 1 },
  ]);
});

test('blanks a thing on every day on which it was archived, and merges delete its content from disk', async () => {
  await pipeline.start('archiver');
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const regretted = [0, 1, 2, 2].map((days) => ({ ...commentItem(1, 'regretted'), first_seen_at: daysAgo(days) }));
  await insertItems(pipeline.db.pool, pipeline.clickhouse, regretted);
  await publishRemovals(['t1_1', 't1_1', 't1_unknown']);
  await removalsCaughtUp();
  await pipeline.clickhouse.command({ query: 'OPTIMIZE TABLE items FINAL' });
  expect(await ask('SELECT DISTINCT body, author, url, ver FROM items')).toEqual([
    { body: '', author: '[deleted]', url: '', ver: 2 },
  ]);
  expect(await count('items FINAL')).toBe(1);
});

test('processes thousands of removals at once', async () => {
  const ids = Array.from({ length: 3_000 }, (_, number) => `t1_zzzzzzz${(46_656 + number).toString(36)}`);
  await insertItems(
    pipeline.db.pool,
    pipeline.clickhouse,
    ids.map((id) => forumItemOf(id)),
  );
  await publishRemovals(ids);
  await pipeline.start('archiver');
  await removalsCaughtUp();
  expect(await count(`items FINAL WHERE body = '' AND ver = 2`)).toBe(3_000);
  const noted = await pipeline.db.pool.query<{ n: number }>('SELECT count(*) AS n FROM removed_things');
  expect(noted.rows[0]!.n).toBe(3_000);
});

test.each([false, true])('inserts 5,000 rows in one request, compressed: %s', async (compressed) => {
  const client = createClient({
    url: pipeline.clickhouseUrl,
    compression: { request: compressed, response: compressed },
  });
  const values = Array.from({ length: 5_000 }, (_, number) => ({ name: `row ${number} 🦀` }));
  await client.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' });
  const result = await client.query({
    query: `SELECT name FROM schema_migrations WHERE name LIKE 'row %' ORDER BY name`,
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual(values.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  await client.close();
});
