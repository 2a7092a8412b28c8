import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS, TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { parseRecords } from '../../../shared/kafka/consumed-batch.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { identifyItem, toItemLetter } from '../../../shared/forum-client/malformed-item.ts';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import { RunningSimulator } from '../../support/fakes/running-simulator.ts';
import { counted, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { COMMENT } from '../../support/samples/forum-things.ts';

let kafka: KafkaFixture;
let database: TestDatabase;
let simulator: RunningSimulator;
const cleanUp: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  kafka = await createKafkaFixture();
  await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
  database = await createTestDatabase();
  simulator = await RunningSimulator.start({ rate: 0, history: 2000 });
});
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});
afterAll(async () => {
  await simulator.stop();
  await database.drop();
  await kafka.drop();
});

interface Line {
  topic: string;
  key: string;
  value: string;
  [field: string]: unknown;
}

async function deadLetters(...args: string[]): Promise<{ lines: Line[]; err: string }> {
  const env = {
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: kafka.prefix,
    UPSTREAM_SITE_URL: 'https://forum.example',
  };
  const { code, out, err } = await runAdminProcess(['dead-letters', ...args], env);
  expect(code, err).toBe(0);
  const lines = out.split('\n').filter((line) => line !== '');
  return { lines: lines.map((line) => JSON.parse(line) as Line), err };
}

/** Every item of both topics, in order. */
async function readItems(): Promise<ForumItem[]> {
  const items: ForumItem[] = [];
  const consumer = await startBatchConsumer({
    ...kafka,
    group: 'reader-of-items',
    topics: [FORUM_POSTS.name, FORUM_COMMENTS.name],
    logger: silentLogger(),
    handle: async (batch) => {
      items.push(...parseRecords(FORUM_POSTS.schema, batch).parsed.map(({ value }) => value));
      return undefined;
    },
  });
  cleanUp.push(() => consumer.stop());
  return items;
}

async function emit(item: object): Promise<string> {
  const response = await simulator.control('emit', item);
  expect(response.status).toBe(200);
  return ((await response.json()) as { name: string }).name;
}

test('items of unknown shape are kept once each, do not stop the others, and stay until the code reads them', async () => {
  const sources = ['post-ids', 'listings'];
  const crawler = await startTestCrawler({
    url: simulator.url,
    pool: database.pool,
    publisher: kafka.publisher,
    sources,
  });
  cleanUp.push(() => crawler.stop());
  await eventually('the crawl begins', () => crawler.ready());
  const items = await readItems();
  const post = await emit({ kind: 'post', title: 'a host', subreddit: 'Coffee' });
  const oddComment = { kind: 'comment', text: 'odd', post, shape: { field: 'body', value: { text: 'odd' } } };
  const comment = await emit(oddComment);
  const oddPost = await emit({ kind: 'post', title: 'odd', shape: { field: 'title', value: { text: 'odd' } } });
  const after = await emit({ kind: 'comment', text: 'readable', post });
  await eventually('the readable items arrive', () =>
    [post, after].every((name) => items.some((i) => i.thing_id === name)),
  );
  const kept = () => counted(crawler.metrics, 'crawler_unreadable_things_total', { outcome: 'kept' });
  await eventually('both letters are written', async () => (await kept()) === 2);
  const { lines: letters } = await deadLetters('list');
  const origin = { step: 'shape', group: 'crawler' };
  expect(letters).toMatchObject([
    { topic: 'forum.posts', key: oddPost, ...origin },
    { topic: 'forum.comments', key: comment, source: 'listings', ...origin },
  ]);
  expect(letters[1]!.reason).toMatch(/^data\.body: /);

  const replay = await deadLetters('replay', '--topic', 'forum.comments');
  expect(replay.lines).toEqual([{ topic: 'forum.comments', replayed: 1, set_aside_again: 1, remaining: 0 }]);
  expect(replay.err).toContain(`${comment} was set aside again: data.body: `);
  expect((await deadLetters('list')).lines.map(({ key }) => key)).toEqual([oddPost, comment]);
  expect(items.some(({ thing_id: name }) => name === comment || name === oddPost)).toBe(false);
});

test('an item that the present code reads becomes an item as of when it was first seen, by its key', async () => {
  const firstSeenAt = Date.UTC(2026, 0, 1, 0, 2);
  const thing = identifyItem({ kind: 't1', data: { ...COMMENT, id: 'readagain1' } })!;
  const sight = { source: 'listings', firstSeenAt, post: undefined };
  const { topic, record } = toItemLetter(thing, { path: 'data.body', message: 'was unknown' }, sight);
  await kafka.publisher.publish(`${topic}.dead-letter`, [record]);
  const items = await readItems();
  const { lines } = await deadLetters('replay', '--topic', 'forum.comments');
  expect(lines).toMatchObject([{ topic: 'forum.comments', remaining: 0 }]);
  await eventually('the item arrives', () => items.some((item) => item.thing_id === 't1_readagain1'));
  expect(items.filter((item) => item.thing_id === 't1_readagain1')).toMatchObject([
    {
      body: COMMENT.body,
      language: 'en',
      first_seen_at: new Date(firstSeenAt).toISOString(),
      source: 'listings',
      permalink: `https://forum.example${COMMENT.permalink}`,
    },
  ]);
});
