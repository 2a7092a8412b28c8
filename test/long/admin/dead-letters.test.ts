import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { FORUM_REMOVALS, MONITOR_CANDIDATES, TOPICS } from '../../../schemas/messages/topics.ts';
import type { Topic } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../../shared/kafka/dead-letters.ts';
import { parseRecords } from '../../../shared/kafka/consumed-batch.ts';
import { ensureTopics, groupPositions } from '../../../shared/kafka/topic-admin.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

interface Line {
  topic: string;
  partition: number;
  offset: number;
  reason: string;
  [field: string]: unknown;
}

let fixture: KafkaFixture;
let brokers: string;
const running: BatchConsumer[] = [];

beforeAll(async () => {
  fixture = await createKafkaFixture();
  brokers = inject('kafkaBrokers');
  await ensureTopics(fixture.kafka, { prefix: fixture.prefix, embedded: true, topics: TOPICS });
});
afterAll(async () => {
  await Promise.all(running.map((consumer) => consumer.stop()));
  await fixture.drop();
});

const deadLetters = (args: readonly string[], env: Record<string, string> = {}) =>
  runAdminHere(['dead-letters', ...args], { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: fixture.prefix, ...env });

async function linesOf(args: readonly string[], env?: Record<string, string>): Promise<Line[]> {
  const { code, out, err } = await deadLetters(args, env);
  expect([code, err]).toEqual([0, '']);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** Publishes records that no consumer can read, and waits until a consumer of the topic has set them aside. */
async function setAside(topic: Topic, values: readonly (string | Buffer)[]): Promise<void> {
  const before = await letterCount(topic);
  const group = `reader-of-${topic.name}`;
  if (!running.some((consumer) => consumer.ready())) {
    running.push(
      await startBatchConsumer({
        ...fixture,
        group,
        topics: [topic.name],
        logger: silentLogger(),
        deadLetters: new DeadLetters({ ...fixture, group, logger: silentLogger() }),
        handle: (batch) => Promise.resolve({ poison: parseRecords(topic.schema, batch).poison }),
      }),
    );
  }
  const records = values.map((value, index) => ({ key: `key-${index}`, value, headers: { trace: `t${index}` } }));
  await fixture.publisher.publish(topic.name, records);
  await eventually('the records are set aside', async () => (await letterCount(topic)) === before + values.length);
}

async function letterCount(topic: Topic): Promise<number> {
  const options = { prefix: fixture.prefix, group: 'none', topics: [`${topic.name}.dead-letter`] };
  const [position] = await groupPositions(fixture.kafka, options);
  return Number(position!.head);
}

test('lists dead letters, replays each once, and lists what failed again', async () => {
  const long = `{"v":1,"text":"${'x'.repeat(2_000)}"}`;
  await setAside(MONITOR_CANDIDATES, ['garbled', Buffer.from([0x7b, 0xff]), long]);
  const listed = await linesOf(['list']);
  expect(listed).toHaveLength(3);
  const garbled = listed.find(({ value }) => value === 'garbled')!;
  expect(garbled).toEqual({
    topic: 'monitor.candidates',
    partition: expect.any(Number) as number,
    offset: expect.any(Number) as number,
    time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    set_aside_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    key: 'key-0',
    group: 'reader-of-monitor.candidates',
    step: 'parse',
    reason: expect.stringMatching(/JSON/) as string,
    value: 'garbled',
    value_bytes: 7,
  });
  expect(listed.map(({ value_bytes: bytes }) => Number(bytes)).sort((a, b) => a - b)).toEqual([2, 7, long.length]);
  expect(listed.find(({ key }) => key === 'key-2')).toMatchObject({ value: long.slice(0, 500), step: 'schema' });

  const limited = await deadLetters(['list', '--topic', 'monitor.candidates', '--limit', '1']);
  expect(limited.out.trim().split('\n')).toEqual([JSON.stringify(listed[0])]);
  expect([limited.code, limited.err]).toEqual([0, expect.stringContaining('2 more dead letters are not listed')]);

  // The consumer sets each replayed record aside again: the new letters must not be replayed in the same run.
  const topic = MONITOR_CANDIDATES.name;
  expect(await linesOf(['replay', '--topic', topic, '--limit', '2'])).toEqual([{ topic, replayed: 2, remaining: 1 }]);
  await eventually('two letters more', async () => (await letterCount(MONITOR_CANDIDATES)) === 5);
  const replayed = await linesOf(['replay']);
  expect(replayed.map((line) => line.topic)).toEqual(TOPICS.map(({ name }) => name));
  expect(replayed.find((line) => line.topic === topic)).toEqual({ topic, replayed: 3, remaining: 0 });
  await eventually('three letters more', async () => (await letterCount(MONITOR_CANDIDATES)) === 8);
  expect(await linesOf(['list'])).toHaveLength(3);
  expect(await linesOf([])).toEqual(TOPICS.map(({ name }) => ({ topic: name, waiting: name === topic ? 3 : 0 })));
  expect(await linesOf(['list', '--all'])).toHaveLength(8);

  const groups = await fixture.kafka.withAdmin((admin) => admin.listGroups());
  expect(groups.groups.filter(({ groupId }) => groupId.includes('dead-letter-list'))).toEqual([]);
});

test('two replays at once publish every letter and both end', async () => {
  const letters = Array.from({ length: 20 }, (_, index) => ({ key: `k${index}`, value: `letter ${index}` }));
  await fixture.publisher.publish(`${FORUM_REMOVALS.name}.dead-letter`, letters);
  const replay = () => linesOf(['replay', '--topic', FORUM_REMOVALS.name]);
  const [first, second] = await Promise.all([replay(), replay()]);
  expect([first[0]!.remaining, second[0]!.remaining]).toEqual([0, 0]);
  const published = await fixture.kafka.withAdmin((admin) =>
    admin.fetchTopicOffsets(fixture.prefix + FORUM_REMOVALS.name),
  );
  const count = published.reduce((sum, { high }) => sum + Number(high), 0);
  expect(count).toBe(Number(first[0]!.replayed) + Number(second[0]!.replayed));
  // Each may publish all: their effects are idempotent.
  expect(count).toBeGreaterThanOrEqual(20);
  expect(count).toBeLessThanOrEqual(40);
  expect(await replay()).toEqual([{ topic: FORUM_REMOVALS.name, replayed: 0, remaining: 0 }]);
});

test.each<[string, string[], string, Record<string, string>]>([
  ['a prefix without topics', ['list'], 'Kafka has no topic nowhere-forum.posts', { KAFKA_TOPIC_PREFIX: 'nowhere-' }],
  ['no service', ['list'], 'KAFKA_BROKERS', { KAFKA_BROKERS: '', DATA_DIR: '/nowhere' }],
  ['a broker that is unavailable', ['list'], 'Kafka is not responding', { KAFKA_BROKERS: 'user:hunter2@127.0.0.1:1' }],
])('refuses %s with one message on stderr', async (_, args, message, env) => {
  const { code, out, err } = await deadLetters(args, env);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(message);
  expect(err).not.toMatch(/\n {4}at |hunter2/);
});
