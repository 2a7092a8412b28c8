import type { Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { MONITOR_CANDIDATES, RECORDER_GROUP } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumerDeps } from '../../../shared/kafka/batch-runner.ts';
import { parseRecords, PoisonMessage } from '../../../shared/kafka/consumed-batch.ts';
import type { ConsumedRecord } from '../../../shared/kafka/consumed-batch.ts';
import { DeadLetters } from '../../../shared/kafka/dead-letters.ts';
import type { DeadLetterLimits } from '../../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { partitionOfKey } from '../../../shared/kafka/publisher.ts';
import { replayDeadLetters, setAsideRecords } from '../../../shared/kafka/replay-dead-letters.ts';
import { consumerLag, ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const numbered = z.object({ n: z.number() });

let fixture: KafkaFixture;
let running: BatchConsumer[] = [];
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterEach(async () => {
  await Promise.all(running.map((consumer) => consumer.stop()));
  running = [];
});
afterAll(() => fixture.drop());

async function start(
  topic: string,
  options: Pick<BatchConsumerDeps, 'handle'> & Partial<BatchConsumerDeps>,
  limits?: Partial<DeadLetterLimits>,
): Promise<void> {
  const group = `group-of-${topic}`;
  const logger = silentLogger();
  const deadLetters = new DeadLetters({ ...fixture, group, logger, ...(limits ? { limits } : {}) });
  running.push(await startBatchConsumer({ ...fixture, group, topics: [topic], logger, deadLetters, ...options }));
}

/** Collects the records of the dead-letter topic as they arrive. */
async function readLetters(topic: string): Promise<ConsumedRecord[]> {
  const letters: ConsumedRecord[] = [];
  const consumer = await startBatchConsumer({
    ...fixture,
    group: `letters-of-${topic}`,
    topics: [`${topic}.dead-letter`],
    logger: silentLogger(),
    handle: async (batch) => void letters.push(...batch.records),
  });
  running.push(consumer);
  return letters;
}

function headersOf(record: ConsumedRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(record.headers).map(([name, value]) => [name, String(value)]));
}

test('unreadable records go to the dead-letter topic with bytes, headers and origin; the others are handled', async () => {
  const topic = await fixture.topic('poison');
  const garbled = Buffer.from([0x7b, 0xff, 0x00, 0x22]);
  await fixture.publisher.publish(topic, [
    { key: 'a', value: '{"n":1}' },
    { key: 'b', value: garbled, headers: { trace: 'abc' } },
    { key: 'c', value: '{"n":"three"}' },
    { key: 'd', value: '{"n":4}' },
  ]);
  const handled: number[] = [];
  const letters = await readLetters(topic);
  await start(topic, {
    async handle(batch) {
      const { parsed, poison } = parseRecords(numbered, batch);
      handled.push(...parsed.map(({ value }) => value.n));
      return { poison };
    },
  });
  await eventually('two letters', () => letters.length === 2);
  expect(handled).toEqual([1, 4]);
  expect(letters[0]!.key).toBe('b');
  expect(letters[0]!.value.equals(garbled)).toBe(true);
  expect(headersOf(letters[0]!)).toMatchObject({
    trace: 'abc',
    'dead-letter-topic': topic,
    'dead-letter-partition': '0',
    'dead-letter-offset': '1',
    'dead-letter-group': `group-of-${topic}`,
    'dead-letter-step': 'parse',
  });
  expect(headersOf(letters[1]!)).toMatchObject({ 'dead-letter-offset': '2', 'dead-letter-step': 'schema' });
  expect(headersOf(letters[1]!)['dead-letter-reason']).toContain('n: ');
  await eventually('lag 0', async () => {
    const lags = await consumerLag(fixture.kafka, { ...fixture, group: `group-of-${topic}`, topics: [topic] });
    return lags.every(({ lag }) => lag === 0);
  });
});

test('a handler that throws PoisonMessage for a record is called again with the others', async () => {
  const topic = await fixture.topic('thrown-out');
  await fixture.publisher.publish(
    topic,
    [0, 1, 2, 3, 4].map((n) => ({ key: 'k', value: String(n) })),
  );
  const letters = await readLetters(topic);
  let last: string[] = [];
  await start(topic, {
    async handle(batch) {
      const bad = batch.records.find(({ value }) => ['1', '3'].includes(value.toString()));
      if (bad) throw new PoisonMessage({ record: bad, step: 'work', reason: 'odd' });
      last = batch.records.map(({ value }) => value.toString());
    },
  });
  await eventually('two letters', () => letters.length === 2);
  expect(last).toEqual(['0', '2', '4']);
  expect(letters.map(({ value }) => value.toString())).toEqual(['1', '3']);
});

test.each<[string, Partial<DeadLetterLimits>, (n: number) => boolean]>([
  ['in a row', { maxRun: 5 }, (n) => n >= 30],
  ['in share', { window: 100, maxRatio: 0.1 }, (n) => n % 5 === 0],
])('too many unreadable records %s halt the group before the topic is drained', async (name, limits, isBad) => {
  const topic = await fixture.topic(`too-many-${name.replaceAll(' ', '-')}`);
  const records = Array.from({ length: 200 }, (_, n) => ({ key: 'k', value: isBad(n) ? 'garbled' : `{"n":${n}}` }));
  await fixture.publisher.publish(topic, records);
  await start(topic, { maxRecords: 10, handle: async (batch) => parseRecords(numbered, batch) }, limits);
  await eventually('halted', () => running[0]!.isHalted());
  expect(running[0]!.ready()).toBe(false);
  expect(await counted(fixture.metrics, 'kafka_consumer_halted', { group: `group-of-${topic}` })).toBe(1);
  const [letters] = await fixture.kafka.withAdmin((admin) =>
    admin.fetchTopicOffsets(`${fixture.prefix}${topic}.dead-letter`),
  );
  expect(Number(letters!.high)).toBeLessThanOrEqual(5);
});

test('a halted group goes on once its next records are set aside, and no other group has halted', async () => {
  const topic = MONITOR_CANDIDATES.name;
  await ensureTopics(fixture.kafka, { ...fixture, embedded: true, topics: [MONITOR_CANDIDATES] });
  const [partition, after] = [partitionOfKey('k', MONITOR_CANDIDATES.partitions.embedded), 30 + 60];
  const values = Array.from({ length: 100 }, (_, n) => (n >= 30 && n < after ? `garbled ${n}` : `{"n":${n}}`));
  const publish = (value: string) => fixture.publisher.publish(topic, [{ key: 'k', value }]);
  for (const value of values) await publish(value);
  const handled: number[] = [];
  const group = RECORDER_GROUP;
  const deadLetters = new DeadLetters({ ...fixture, group, logger: silentLogger() });
  await start(topic, {
    ...{ group, deadLetters, haltMs: 3_000 },
    async handle(batch) {
      const { parsed, poison } = parseRecords(numbered, batch);
      handled.push(...parsed.map(({ value }) => value.n));
      return { poison };
    },
  });
  const other: string[] = [];
  await start(topic, { group: 'other', handle: async ({ records }) => void other.push(...records.map(String)) });
  await eventually('halted', () => running[0]!.isHalted());

  const env = { KAFKA_BROKERS: inject('kafkaBrokers'), KAFKA_TOPIC_PREFIX: fixture.prefix };
  const setAside = (to: number, ...more: string[]) =>
    runAdminHere(
      ['dead-letters', 'set-aside', '--topic', topic, '--partition', `${partition}`, '--to', `${to}`, ...more],
      env,
    );
  expect((await setAside(101)).err).toContain('--to must be from 1 to 100');
  expect((await setAside(after, '--group', 'matcher')).err).toContain('--group: must be a group');
  expect(JSON.parse((await setAside(after)).out)).toEqual({ topic, partition, to: after, group, set_aside: after });
  await publish('{"n":100}');
  await eventually('the rest', () => handled.at(-1) === 100);
  expect(handled.slice(-11)).toEqual([90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
  await eventually('ready', () => running[0]!.ready());
  expect(running[0]!.isHalted()).toBe(false);
  expect(await counted(fixture.metrics, 'kafka_consumer_halted', { group })).toBe(0);
  expect(other).toHaveLength(101);
  const letters = await readLetters(topic);
  await eventually('the letters', () => letters.length >= after);
  expect(letters.map(({ value }) => value.toString())).toEqual(values.slice(0, after));
  expect(headersOf(letters[30]!)).toMatchObject({ 'dead-letter-group': group, 'dead-letter-reason': 'set aside' });
});

test('records are set aside only once the group has the new offset, whoever joins it meanwhile', async () => {
  const topic = await fixture.topic('joined-meanwhile');
  await fixture.publisher.publish(topic, [{ key: 'k', value: 'garbled' }]);
  let calls = 0;
  // kafkajs sets nothing where another member of the group has the partition.
  const setOffsets = (admin: Admin) => (asked: Parameters<Admin['setOffsets']>[0]) =>
    calls++ === 0 ? Promise.resolve() : admin.setOffsets(asked);
  const kafka: KafkaConnection = {
    ...fixture.kafka,
    withAdmin: (work) => fixture.kafka.withAdmin((admin) => work({ ...admin, setOffsets: setOffsets(admin) })),
  };
  const group = `group-of-${topic}`;
  await setAsideRecords({ ...fixture, kafka, group, topic, partition: 0, to: 1n, report: () => undefined });
  expect(await consumerLag(fixture.kafka, { ...fixture, group, topics: [topic] })).toMatchObject([{ lag: 0 }]);
});

test('replay publishes the original records, up to its limit, and resumes where it ended', async () => {
  const topic = await fixture.topic('replayed');
  const letters = [0, 1, 2, 3, 4].map((n) => ({
    key: `k${n}`,
    value: Buffer.from([n]),
    headers: { trace: `t${n}`, 'dead-letter-topic': topic, 'dead-letter-reason': 'x' },
  }));
  await fixture.publisher.publish(`${topic}.dead-letter`, letters);
  const replay = (limit: number) => replayDeadLetters({ ...fixture, topic, limit });
  expect(await replay(2)).toEqual({ replayed: 2, setAsideAgain: 0, remaining: 3 });
  expect(await replay(100)).toEqual({ replayed: 3, setAsideAgain: 0, remaining: 0 });
  expect(await replay(100)).toEqual({ replayed: 0, setAsideAgain: 0, remaining: 0 });
  const back: ConsumedRecord[] = [];
  await start(topic, { handle: async (batch) => void back.push(...batch.records) });
  await eventually('all back', () => back.length >= 5);
  expect(back.map(({ key, value }) => [key, value[0]])).toEqual([0, 1, 2, 3, 4].map((n) => [`k${n}`, n]));
  expect(back.map(headersOf)).toEqual([0, 1, 2, 3, 4].map((n) => ({ trace: `t${n}` })));
});
