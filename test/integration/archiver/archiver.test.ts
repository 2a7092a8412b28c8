import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemContent } from '../../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { RecordedMatch } from '../../../schemas/messages/monitor-match.ts';
import {
  FORUM_COMMENTS,
  FORUM_POSTS,
  FORUM_REMOVALS,
  MONITOR_DELIVERIES,
  MONITOR_MATCHES,
} from '../../../schemas/messages/topics.ts';
import * as groups from '../../../schemas/messages/topics.ts';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import { consumerLag } from '../../../shared/kafka/topic-admin.ts';
import { storeItems } from '../../../shared/matches/recording.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { commentItem, forumItemOf } from '../../support/samples/forum-items.ts';

const MONITOR = 'mon_7n3k0v9xq2ma';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
  await pipeline.start('archiver');
});
afterAll(() => pipeline.drop());

async function publish(topic: string, key: string, value: object): Promise<void> {
  await pipeline.kafka.publisher.publish(topic, [{ key, value: JSON.stringify(value) }]);
}

const publishItem = (item: ForumItem) =>
  publish(item.kind === 'post' ? FORUM_POSTS.name : FORUM_COMMENTS.name, item.thing_id, item);
const publishRemoval = (thing_id: string) =>
  publish(FORUM_REMOVALS.name, thing_id, { v: 1, thing_id, removed_at: new Date().toISOString() });

/** Resolves when everything of these topics was read and committed. */
async function caughtUp(group: string, ...topics: string[]): Promise<void> {
  await eventually(`${group} has committed everything`, async () => {
    const lags = await consumerLag(pipeline.kafka.kafka, { prefix: pipeline.kafka.prefix, group, topics });
    return lags.every(({ lag }) => lag === 0);
  });
}

const itemsCaughtUp = () => caughtUp(groups.ITEMS_ARCHIVER_GROUP, FORUM_POSTS.name, FORUM_COMMENTS.name);
const removalsCaughtUp = () => caughtUp(groups.REMOVALS_ARCHIVER_GROUP, FORUM_REMOVALS.name);

async function rows<T>(query: string): Promise<T[]> {
  return (await pipeline.clickhouse.query({ query, format: 'JSONEachRow' })).json<T>();
}

async function expectRows(query: string, expected: unknown[]): Promise<void> {
  await eventually(query, async () => {
    const found = await rows(query);
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`found ${JSON.stringify(found)}`);
    return true;
  });
}

function matchOf(seq: number): RecordedMatch {
  const { first_seen_at, ...item } = commentItem(seq, 'rust');
  const at = new Date().toISOString();
  return {
    v: 1,
    match_id: matchId(MONITOR, seq),
    monitor_id: MONITOR,
    seq,
    matched_terms: ['rust', '咖啡'],
    suppressed: false,
    first_delivery: 'pending',
    entered_at: at,
    created_at: at,
    first_seen_at,
    item: itemContent.parse(item),
  };
}

test('archives items, matches and attempts, each once however often it is published', async () => {
  const item = commentItem(1, 'rust & <b>"quotes"</b>\n\u{1F980} 咖啡');
  const german = { ...commentItem(2, 'new'), language: 'de' };
  const match = matchOf(1);
  const suppressed = { ...matchOf(2), suppressed: true, suppressed_reason: 'thread_once' };
  const attempt = {
    v: 1,
    monitor_id: MONITOR,
    seq: 1,
    match_id: match.match_id,
    attempt: 1,
    started_at: match.created_at,
    duration_ms: 12,
    webhook_kind: 'generic',
    host: 'hooks.example.com',
    status: 0,
    error: 'timeout',
    delivery_status: 'pending',
    next_attempt_at: match.created_at,
  };
  for (let times = 0; times < 2; times++) {
    for (const seen of [item, german]) await publishItem(seen);
    for (const recorded of [match, suppressed]) await publish(MONITOR_MATCHES.name, MONITOR, recorded);
    await publish(MONITOR_DELIVERIES.name, MONITOR, attempt);
  }
  const wire = (iso: string) => iso.replace('T', ' ').replace('Z', '');
  await expectRows('SELECT thing_id, body, ver, created_utc, language FROM items FINAL ORDER BY thing_id', [
    { thing_id: 't1_1', body: item.body, ver: 1, created_utc: wire(item.created_utc), language: '' },
    { thing_id: 't1_2', body: 'new', ver: 1, created_utc: wire(german.created_utc), language: 'de' },
  ]);
  const columns = 'seq, match_id, thing_id, matched_terms, suppressed, suppressed_reason, entered_at';
  const { seq, match_id, matched_terms } = match;
  await expectRows(`SELECT ${columns} FROM matches FINAL ORDER BY seq LIMIT 1`, [
    {
      ...{ seq, match_id, thing_id: 't1_1', matched_terms, suppressed: false, suppressed_reason: '' },
      entered_at: wire(match.entered_at),
    },
  ]);
  await expectRows('SELECT suppressed, suppressed_reason FROM matches FINAL WHERE seq > 1', [
    { suppressed: true, suppressed_reason: 'thread_once' },
  ]);
  await expectRows('SELECT attempt, host, error, next_attempt_at FROM delivery_attempts FINAL', [
    { attempt: 1, host: attempt.host, error: 'timeout', next_attempt_at: wire(attempt.next_attempt_at) },
  ]);
});

test.each(['after', 'before'])('a thing removed %s it was archived is blank everywhere', async (when) => {
  const id = `t1_gone${when}`;
  const item = forumItemOf(id, { body: 'regretted', language: 'de' });
  await storeItems(pipeline.db.pool, [itemContent.parse(item)]);
  if (when === 'after') {
    await publishItem(item);
    await expectRows(`SELECT body FROM items FINAL WHERE thing_id = '${id}'`, [{ body: 'regretted' }]);
    await publishRemoval(id);
  } else {
    await publishRemoval(id);
    const noted = async () =>
      (await pipeline.db.pool.query('SELECT FROM removed_things WHERE thing_id = $1', [id])).rowCount === 1;
    await eventually('the removal is noted', noted);
    await publishItem(item);
  }
  const blank = [{ author: '[deleted]', title: '', body: '', ver: 2, subreddit: 'metals', language: 'de' }];
  const query = `SELECT author, title, body, ver, subreddit, language FROM items FINAL WHERE thing_id = '${id}'`;
  await expectRows(query, blank);
  await eventually('the content of the matches is blank', async () => {
    const stored = await pipeline.db.pool.query(`SELECT FROM matched_items WHERE thing_id = $1 AND body = ''`, [id]);
    return stored.rowCount === 1;
  });
  // When it is published again, it stays blank.
  await publishItem(item);
  await itemsCaughtUp();
  expect(await rows(query)).toEqual(blank);
});

test('archives items with characters and numbers that ClickHouse rejects, and the items of the same insert', async () => {
  const [whole, body] = ['On rust', 'Iron, water and air make rust.'];
  for (const item of [
    forumItemOf('t3_odda', { body: 'half a pair \ud83d and no more', title: '\udc00' }),
    forumItemOf('t3_oddb', { num_comments: -1, score: -7 }),
    forumItemOf('t3_oddc', { body: 'with \u0000 inside', url: null }),
    forumItemOf('t3_oddd', { body: 'tab\tquote"backslash\\ 🦀 \u2028' }),
    forumItemOf('t3_odde', { created_utc: '1970-01-01T00:00:00.000Z' }),
    forumItemOf('t3_oddf', { score: 2 ** 53 - 1, num_comments: 2 ** 53 - 1 }),
    forumItemOf('t3_oddg', { score: 1 - 2 ** 53 }),
  ]) {
    await publishItem(item);
  }
  const query = `SELECT thing_id, body, title, num_comments, score FROM items_with_lag WHERE thing_id LIKE 't3_odd%' ORDER BY thing_id`;
  await expectRows(query, [
    { thing_id: 't3_odda', body: 'half a pair \ufffd and no more', title: '\ufffd', num_comments: 0, score: 1 },
    { thing_id: 't3_oddb', body, title: whole, num_comments: 0, score: -7 },
    { thing_id: 't3_oddc', body: 'with \u0000 inside', title: whole, num_comments: 0, score: 1 },
    { thing_id: 't3_oddd', body: 'tab\tquote"backslash\\ 🦀 \u2028', title: whole, num_comments: 0, score: 1 },
    { thing_id: 't3_odde', body, title: whole, num_comments: 0, score: 1 },
    { thing_id: 't3_oddf', body, title: whole, num_comments: 2 ** 53 - 1, score: 2 ** 53 - 1 },
    { thing_id: 't3_oddg', body, title: whole, num_comments: 0, score: 1 - 2 ** 53 },
  ]);
});

test('blanks an item that is removed between the read of removals and the insert', async () => {
  const { pool } = pipeline.db;
  let lookUps = 0;
  const overtaken = {
    query: async (...args: [string, unknown[]]) => {
      const result = await pool.query(...args);
      if (++lookUps === 1) {
        await publishRemoval('t1_overtaken');
        await removalsCaughtUp();
      }
      return result;
    },
  };
  const items = ['t1_overtaken', 't1_overtaker'].map((id) => forumItemOf(id));
  await insertItems(overtaken as Queryable, pipeline.clickhouse, items);
  expect(lookUps).toBe(2);
  expect(
    await rows(`SELECT author, ver FROM items FINAL WHERE thing_id LIKE 't1_overtake%' ORDER BY thing_id`),
  ).toEqual([
    { author: '[deleted]', ver: 2 },
    { author: 'smith', ver: 1 },
  ]);
});

test('blanks a thing on every day on which it was archived, and merges delete its content from disk', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const regretted = [0, 1, 2, 2].map((days) => forumItemOf('t1_days', { first_seen_at: daysAgo(days) }));
  await insertItems(pipeline.db.pool, pipeline.clickhouse, regretted);
  for (const id of ['t1_days', 't1_days', 't1_unknown']) await publishRemoval(id);
  await removalsCaughtUp();
  await pipeline.clickhouse.command({ query: 'OPTIMIZE TABLE items FINAL' });
  expect(await rows(`SELECT DISTINCT body, author, url, ver FROM items WHERE thing_id = 't1_days'`)).toEqual([
    { body: '', author: '[deleted]', url: '', ver: 2 },
  ]);
});

test('a restarted archiver that reads all messages again has every row once, and goes on', async () => {
  const everything = () =>
    Promise.all(
      ['items', 'matches', 'delivery_attempts'].map((table) => rows(`SELECT * FROM ${table} FINAL ORDER BY ALL`)),
    );
  await itemsCaughtUp();
  const before = await everything();
  const inserted = async () => {
    const { values } = await pipeline.kafka.metrics.archiverRows.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const insertedBefore = await inserted();
  await pipeline.stopLast();
  const { kafka, prefix } = pipeline.kafka;
  for (const { name } of [FORUM_COMMENTS, FORUM_POSTS]) {
    const groupId = prefix + groups.ITEMS_ARCHIVER_GROUP;
    await kafka.withAdmin((admin) => admin.resetOffsets({ groupId, topic: prefix + name, earliest: true }));
  }
  await pipeline.start('archiver');
  await itemsCaughtUp();
  expect(await inserted()).toBeGreaterThan(insertedBefore);
  expect(await everything()).toEqual(before);
  await publishItem(forumItemOf('t1_afterwards'));
  await expectRows(`SELECT ver FROM items FINAL WHERE thing_id = 't1_afterwards'`, [{ ver: 1 }]);
});
