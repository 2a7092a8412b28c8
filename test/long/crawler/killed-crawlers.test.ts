import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS, TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { parseRecords } from '../../../shared/kafka/consumed-batch.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { TestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

/** 15 s, and a stall of the machine. */
const LONGEST_TAKEOVER_MS = 25_000;
/** The forum lists its last 1,000 comments, at this rate for 38 s: longer than a takeover. */
const ITEMS_PER_SECOND = 30;
/** The longest lateness of the simulator's late items. */
const LATE_MS = 3_000;

let kafka: KafkaFixture;
let database: TestDatabase;
let clickhouse: TestClickhouse;
let simulator: SimulatorProcess;
let folder: string;
let consumer: BatchConsumer;
const crawlers: ServiceProcess[] = [];
/** The sources that find everything which this forum emits. */
const RESUMED = ['post-ids', 'listings:comments'];
/** The leases that the first crawler held while it was alone. */
let sources: string[] = [];
/** All records of each key, in order. */
const records = new Map<string, ForumItem[]>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forum-test-crawlers-'));
  kafka = await createKafkaFixture();
  await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
  database = await createTestDatabase();
  clickhouse = await createTestClickhouse();
  simulator = await startSimulatorProcess({
    SIMULATOR_RATE: String(ITEMS_PER_SECOND),
    SIMULATOR_COMMENT_IDS: 'random',
    SIMULATOR_LATENCY_MS: '20-120',
    SIMULATOR_HISTORY: '50',
    SIMULATOR_LATE_SECONDS: String(LATE_MS / 1000),
  });
  consumer = await startBatchConsumer({
    ...kafka,
    group: 'reader',
    topics: [FORUM_POSTS.name, FORUM_COMMENTS.name],
    logger: silentLogger(),
    handle: async (batch) => {
      for (const { value } of parseRecords(FORUM_POSTS.schema, batch).parsed) {
        records.set(value.thing_id, [...(records.get(value.thing_id) ?? []), value]);
      }
      return undefined;
    },
  });
});
afterAll(async () => {
  await Promise.all(crawlers.map((crawler) => crawler.stop()));
  await consumer.stop();
  await simulator.stop();
  await clickhouse.drop();
  await database.drop();
  await kafka.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function addCrawler(): Promise<void> {
  const crawler = new ServiceProcess('crawler', {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    PORT: String(await freePort()),
    METRICS_PORT: String(await freePort()),
    DATA_DIR: mkdtempSync(join(folder, 'crawler-')),
    LOG_LEVEL: 'warn',
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: kafka.prefix,
    FORUM_EMBEDDED: 'kafka,postgres,clickhouse',
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    UPSTREAM_URL: simulator.url,
    UPSTREAM_TOKEN_URL: `${simulator.url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'a:test,b:test,c:test,d:test',
  });
  crawlers.push(crawler);
  crawler.start();
}

/** The sources whose lease is valid, by the process that holds it. */
async function heldByPid(): Promise<Map<number, string[]>> {
  const { rows } = await database.pool.query<{ holder: string; names: string[] }>(
    `SELECT holder, array_agg(name ORDER BY name) AS names FROM leases
      WHERE starts_with(name, 'crawl:') AND lease_until > service_now() GROUP BY holder`,
  );
  return new Map(rows.map(({ holder, names }) => [Number(holder.split(':')[1]), names]));
}

async function untilBothHold(): Promise<void> {
  await eventually('both hold sources', async () => {
    const held = await heldByPid();
    return crawlers.every(({ pid }) => held.has(pid!));
  });
}

/** Starts what is needed for two crawlers that both hold sources, of which each has a saved position. */
async function startTwo(): Promise<void> {
  await addCrawler();
  sources = await eventually('the first crawler has the positions from which a successor resumes', async () => {
    const held = (await heldByPid()).get(crawlers[0]!.pid!) ?? [];
    const { rows } = await database.pool.query<{ source: string }>('SELECT source FROM crawl_cursors');
    const isSaved = RESUMED.every((name) => rows.some(({ source }) => source === name));
    return records.size > 100 && isSaved && RESUMED.every((name) => held.includes(`crawl:${name}`)) ? held : undefined;
  });
  await addCrawler();
  await untilBothHold();
}

/** Kills one of the two, waits until the other one holds every source, and starts the dead one again. */
async function killOne(first: boolean): Promise<{ takeoverMs: number; killedAt: number }> {
  const [dead, alive] = first ? [crawlers[0]!, crawlers[1]!] : [crawlers[1]!, crawlers[0]!];
  await dead.kill();
  const killedAt = Date.now();
  await eventually('the other one holds every source', async () => {
    const held = (await heldByPid()).get(alive.pid!) ?? [];
    return sources.every((source) => held.includes(source));
  });
  const takeoverMs = Date.now() - killedAt;
  dead.start();
  await untilBothHold();
  return { takeoverMs, killedAt };
}

/** A moment that no clock of the crawlers chooses. */
async function someItemsLater(): Promise<void> {
  const items = records.size + Math.floor(Math.random() * 3 * ITEMS_PER_SECOND);
  await eventually('some items arrive', () => records.size > items);
}

/** Resolves once the saved position of the comments is past a time: then what was behind it is read. */
async function untilCaughtUp(time: number): Promise<void> {
  await eventually('the comments are caught up', async () => {
    const { rows } = await database.pool.query<{ newest: number }>(
      `SELECT (position->>'newestAt')::float8 AS newest FROM crawl_cursors WHERE source = 'listings:comments'`,
    );
    return (rows[0]?.newest ?? 0) > time;
  });
}

/** What was emitted in this time and has not arrived once everything that is late can be seen. */
async function missingOf(from: number, to: number): Promise<EmittedItem[]> {
  await untilCaughtUp(to + LATE_MS);
  const expected = simulator.emitted().filter(({ at }) => at >= from && at < to);
  expect(expected.length).toBeGreaterThan(100);
  const missing = (): EmittedItem[] => expected.filter(({ name }) => !records.has(name));
  // Published, and on its way to this reader.
  await eventually('the rest arrives', () => missing().length === 0).catch(() => undefined);
  return missing();
}

test('of two crawlers one is killed: nothing is missed, and the other one takes over', async () => {
  await startTwo();
  const expectedSince = Date.now();
  await someItemsLater();
  const { takeoverMs, killedAt } = await killOne(true);
  expect(takeoverMs).toBeLessThan(LONGEST_TAKEOVER_MS);
  await untilCaughtUp(killedAt);
  expect(await missingOf(expectedSince, Date.now())).toEqual([]);
  expect(crawlers.map(({ ownEnds }) => ownEnds)).toEqual([0, 0]);
  // The records of one key are the same item, so that the dedupe by key loses nothing.
  for (const [name, [first, ...others]] of records) {
    for (const other of others) {
      const { source: _source, first_seen_at: _seen, score: _score, num_comments: _count, ...item } = other;
      expect(first, name).toMatchObject(item);
    }
  }
});
