import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { MONITOR_CANDIDATES, RECORDER_GROUP, TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';

const TOPIC = MONITOR_CANDIDATES.name;
const KEYS = 40;
const PER_KEY = 20;

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
  await ensureTopics(fixture.kafka, { prefix: fixture.prefix, embedded: true, topics: TOPICS });
});
afterAll(() => fixture.drop());

const topics = (...args: string[]) =>
  runAdminHere(['topics', ...args], { KAFKA_BROKERS: inject('kafkaBrokers'), KAFKA_TOPIC_PREFIX: fixture.prefix });
const raise = (partitions: string) => topics('raise', '--topic', TOPIC, '--partitions', partitions);

test('partitions are raised only when all is read and all have stopped, and each key keeps its order', async () => {
  const read = new Map<string, number[]>();
  let count = 0;
  const consume = () =>
    startBatchConsumer({
      ...{ ...fixture, group: RECORDER_GROUP, topics: [TOPIC], logger: fixture.kafka.logger },
      handle: ({ records }) => {
        for (const { key, value } of records) {
          const own = key;
          read.set(own, [...(read.get(own) ?? []), Number(value)]);
          count += 1;
        }
        return Promise.resolve();
      },
    });
  const publish = async (from: number) => {
    // As a process that has just started: publishers keep the number of partitions.
    const publisher = await createPublisher({ ...fixture, logger: fixture.kafka.logger });
    for (let number = from; number < from + PER_KEY; number++) {
      const records = Array.from({ length: KEYS }, (_, key) => ({ key: `mon_${key}`, value: String(number) }));
      await publisher.publish(TOPIC, records);
    }
    await publisher.stop();
  };

  await publish(0);
  expect(await raise('9')).toMatchObject({
    code: 1,
    err: expect.stringContaining(`recorder has not read ${KEYS * PER_KEY}`) as string,
  });
  const consumer = await consume();
  await eventually('all is read', () => count === KEYS * PER_KEY);
  await eventually('all is committed', async () => (await raise('9')).err.includes('connected to the groups recorder'));
  await consumer.stop();
  expect(await raise('4')).toMatchObject({
    code: 1,
    err: expect.stringContaining('the number can only be raised') as string,
  });

  const { code, out } = await raise('9');
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { topic: TOPIC, partitions: 9, before: 4, next: `start the services with KAFKA_PARTITIONS=${TOPIC}=9` },
  ]);
  const plan = { prefix: fixture.prefix, embedded: true, topics: TOPICS };
  await expect(ensureTopics(fixture.kafka, plan)).rejects.toThrow('has 9, but this version needs 4');
  await ensureTopics(fixture.kafka, { ...plan, partitions: { [TOPIC]: 9 } });

  await publish(PER_KEY);
  const again = await consume();
  await eventually('all is read again', () => count === 2 * KEYS * PER_KEY);
  await again.stop();
  const inOrder = Array.from({ length: 2 * PER_KEY }, (_, number) => number);
  expect([...read.values()].filter((numbers) => String(numbers) !== String(inOrder))).toEqual([]);
  expect(read.size).toBe(KEYS);
  const listed = (await topics('list')).out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as object);
  expect(listed).toContainEqual({ topic: TOPIC, partitions: 9, lags: { recorder: 0 } });
  expect(listed).toHaveLength(TOPICS.length);
});

test.each([
  [['list'], /^Kafka has no topic nowhere-forum\.posts, /],
  [['raise', '--topic', TOPIC, '--partitions', '9'], /^Kafka has no topic nowhere-monitor\.candidates\. /],
  [['raise', '--topic', 'monitor.candidate', '--partitions', '9'], /^--topic: must be/],
  [['raise', '--topic', TOPIC, '--partitions', '1e3'], /^--partitions: must be/],
])('topics %j is refused where a prefix has no topics', async (args, message) => {
  const env = { KAFKA_BROKERS: inject('kafkaBrokers'), KAFKA_TOPIC_PREFIX: 'nowhere-' };
  const { code, err } = await runAdminHere(['topics', ...args], env);
  expect([code, err]).toEqual([1, expect.stringMatching(message)]);
});
