import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Consumer } from 'kafkajs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/candidate.ts';
import { FORUM_COMMENTS, MONITOR_CANDIDATES, TOPICS } from '../../../schemas/messages/topics.ts';
import { startMatcher } from '../../../services/matcher/start-matcher.ts';
import { ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let kafka: KafkaFixture;
let api: TestApi;
let key: string;
let reader: Consumer;
let arrived: Candidate[];
let matchers: Awaited<ReturnType<typeof startMatcher>>[];

beforeEach(async () => {
  db = await createTestDatabase();
  kafka = await createKafkaFixture();
  await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
  api = await startTestApi(db.pool);
  ({ apiKey: key } = await api.account());
  matchers = [];
  arrived = [];
  reader = await startReader();
});
afterEach(async () => {
  for (const matcher of matchers) await matcher.stop();
  await reader.disconnect();
  await api.stop();
  await kafka.drop();
  await db.drop();
});

/** @param clock of the listener; a clock that stands keeps its connection: a new one would find unannounced changes */
async function start(
  postgresUrl = db.url,
  clock: Clock = () => performance.now(),
): Promise<Awaited<ReturnType<typeof startMatcher>>> {
  const { publisher, prefix, metrics, fatal } = kafka;
  const deps = {
    kafka: kafka.kafka,
    publisher,
    prefix,
    metrics,
    fatal,
    pool: db.pool,
    logger: silentLogger(),
    toleranceMs: 0,
  };
  const matcher = await startMatcher({ ...deps, postgresUrl, clock });
  matchers.push(matcher);
  await eventually('the matcher is ready', () => matcher.ready());
  return matcher;
}

let nextComment = 1;

/** Publishes comments with the given texts; returns their names. */
async function say(...texts: string[]): Promise<string[]> {
  const items = texts.map((body) => commentItem(nextComment++, body));
  await kafka.publisher.publish(
    FORUM_COMMENTS.name,
    items.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) })),
  );
  return items.map(({ thing_id }) => thing_id);
}

/** Reads monitor.candidates from the beginning, for as long as the test runs. */
async function startReader(): Promise<Consumer> {
  const consumer = kafka.kafka.client.consumer({ groupId: `${kafka.prefix}reader` });
  await consumer.connect();
  await consumer.subscribe({ topic: kafka.prefix + MONITOR_CANDIDATES.name, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ message }) => void arrived.push(JSON.parse(message.value!.toString()) as Candidate),
  });
  return consumer;
}

/** Every candidate published so far. */
async function candidates(): Promise<Candidate[]> {
  const topic = kafka.prefix + MONITOR_CANDIDATES.name;
  const offsets = await kafka.kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic));
  const total = offsets.reduce((sum, { high }) => sum + Number(high), 0);
  await eventually('the candidates are read', () => arrived.length >= total);
  return [...arrived];
}

async function expectCandidates(monitor: string, names: string[]): Promise<Candidate[]> {
  return eventually(`candidates of ${names.join(', ')}`, async () => {
    const mine = (await candidates()).filter(({ monitor_id }) => monitor_id === monitor);
    const missing = names.filter((name) => !mine.some(({ item }) => item.thing_id === name));
    if (missing.length > 0) throw new Error(`missing ${missing.join(', ')} of ${mine.length}`);
    return mine;
  });
}

/** Waits until the matcher has committed the offsets of all comments. */
async function expectConsumed(): Promise<void> {
  await eventually('all comments are matched and committed', async () =>
    kafka.kafka.withAdmin(async (admin) => {
      const topic = kafka.prefix + FORUM_COMMENTS.name;
      const [committed] = await admin.fetchOffsets({ groupId: `${kafka.prefix}matcher`, topics: [topic] });
      const heads = await admin.fetchTopicOffsets(topic);
      return heads.every(({ partition, high }) => {
        const at = committed?.partitions.find((one) => one.partition === partition)?.offset;
        return high === '0' || at === high;
      });
    }),
  );
}

/** Changes the database as the API does, but without a notification. */
async function silently(statement: string, values: unknown[]): Promise<void> {
  await db.pool.query(statement, values);
}

test('a monitor whose notification was lost gets the items since then when the listener reconnects', async () => {
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  await silently(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [id]);
  await start(db.url, () => 0);
  await silently(`UPDATE monitors SET status = 'active', active_since = wall_now() WHERE id = $1`, [id]);
  const names = await say('rust, and nobody knows the monitor yet', 'more rust');
  await expectConsumed();
  expect(await candidates()).toEqual([]);
  await db.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'matcher-listener' AND datname = current_database()`);
  await expectCandidates(id, names);
});

test('items that entered before a monitor became active are not scanned for it', async () => {
  await start();
  const [early] = await say('rust, too early');
  await expectConsumed();
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  const late = await say('rust, in time');
  const found = await expectCandidates(id, late);
  expect(found.map(({ item }) => item.thing_id)).not.toContain(early);
});

test('a changed rule is applied, under its new version, to items that entered after the change', async () => {
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  await start(db.url, () => 0);
  const [before] = await say('rust and coffee, before');
  await expectConsumed();
  // As after a PATCH, but without the notification: version 2 starts before the next comment enters.
  await silently(`UPDATE monitors SET keywords = '{coffee}', version = 2 WHERE id = $1`, [id]);
  await silently('INSERT INTO monitor_versions (monitor_id, version, since) VALUES ($1, 2, wall_now())', [id]);
  const [after] = await say('rust and coffee, after');
  await expectConsumed();
  await silently('SELECT pg_notify($1, $2)', ['monitor_changed', id]);
  await eventually('the new rule found it', async () =>
    (await candidates()).some(({ monitor_version, item }) => monitor_version === 2 && item.thing_id === after),
  );
  const found = (await candidates()).map(({ monitor_version, item }) => `${monitor_version} ${item.thing_id}`);
  expect(found.sort()).toEqual([`1 ${before}`, `1 ${after}`, `2 ${after}`].sort());
});

test('paused and deleted monitors get no candidates, a resumed one does', async () => {
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  const gone = await api.monitor(key, { keywords: ['rust'] });
  await start();
  await api.call(key, 'POST', `/v1/monitors/${id}/pause`);
  await api.call(key, 'DELETE', `/v1/monitors/${gone.id}`);
  await eventually('both monitors are removed', async () => {
    await say('rust, for nobody?');
    const before = (await candidates()).length;
    await say('rust, for nobody');
    await expectConsumed();
    return (await candidates()).length === before;
  });
  await api.call(key, 'POST', `/v1/monitors/${id}/resume`);
  await expectCandidates(id, await say('rust again'));
});

test('after a rebalance the new owner finds items that the previous owner committed but did not scan for a new monitor', async () => {
  const old = await api.monitor(key, { keywords: ['coffee'] });
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  await silently(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [id]);
  const first = await start();
  await silently(`UPDATE monitors SET status = 'active', active_since = wall_now() WHERE id = $1`, [id]);
  const names = await say('rust and coffee', 'rust', 'coffee');
  await expectConsumed();
  const coffees = (await expectCandidates(old.id, [names[0]!, names[2]!])).length;
  await first.stop();
  await start();
  await expectCandidates(id, [names[0]!, names[1]!]);
  // The offsets did not go back and no item is lost: further comments are matched once.
  const more = await say('coffee, after the hand-over');
  await expectCandidates(old.id, more);
  await expectConsumed();
  expect((await candidates()).filter(({ monitor_id }) => monitor_id === old.id).length).toBeLessThanOrEqual(
    2 * coffees + 1,
  );
});

test('matches nothing while the listener’s connection is lost, and misses nothing afterwards', async () => {
  const frozen = await startFreezableProxy(db.url);
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  const matcher = await start(frozen.url);
  frozen.freeze();
  await eventually('the matcher notices', () => !matcher.ready());
  const late = await api.monitor(key, { keywords: ['rust'] });
  const names = await say('rust in the silence', 'rust once more');
  const { value } = (await kafka.metrics.matcherPaused.get()).values[0]!;
  expect(value).toBe(1);
  expect(await candidates()).toEqual([]);
  frozen.thaw();
  await expectCandidates(id, names);
  await expectCandidates(late.id, names);
  await matchers.pop()!.stop();
  await frozen.stop();
});

/** A proxy to Postgres that can go silent without closing connections, like a broken network. */
async function startFreezableProxy(
  url: string,
): Promise<{ url: string; freeze(): void; thaw(): void; stop(): Promise<void> }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
      if (isFrozen) socket.pause();
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => client.write(chunk));
    if (isFrozen) for (const socket of [client, upstream]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
