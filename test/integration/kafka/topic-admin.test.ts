import kafkajs from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { startLagMonitor } from '../../../shared/kafka/lag-monitor.ts';
import { TopicsDiffer, consumerLag, deleteGroups, ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture, topicOf } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterAll(() => fixture.drop());

async function settingsOf(topic: string): Promise<Map<string, string>> {
  const { resources } = await fixture.kafka.withAdmin((admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: fixture.prefix + topic }],
    }),
  );
  return new Map(resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]));
}

test('several concurrent starts create each declared topic and its dead-letter topic with their settings', async () => {
  const { kafka, prefix } = fixture;
  const ensure = () => ensureTopics(kafka, { prefix, embedded: true, topics: TOPICS });
  await Promise.all([ensure(), ensure(), ensure()]);
  await ensure();
  const posts = await settingsOf('forum.posts');
  expect(posts.get('message.timestamp.type')).toBe('LogAppendTime');
  expect(posts.get('compression.type')).toBe('producer');
  expect(posts.get('max.message.bytes')).toBe('4194304');
  expect(posts.get('retention.ms')).toBe(String(72 * 3_600_000));
  expect(posts.get('retention.bytes')).toBe(String(2 * 1024 ** 3));
  expect(posts.get('min.insync.replicas')).toBe('1');
  expect((await settingsOf('monitor.matches')).get('retention.bytes')).toBe('-1');
  expect((await settingsOf('monitor.matches.dead-letter')).get('retention.ms')).toBe(String(30 * 86_400_000));
});

test('a start refuses a partition count that differs from the declared one, and names it', async () => {
  const { kafka, prefix } = fixture;
  await ensureTopics(kafka, { prefix, embedded: true, topics: [topicOf('counted', 2)] });
  const start = ensureTopics(kafka, { prefix, embedded: true, topics: [topicOf('counted', 3), topicOf('new', 1)] });
  await expect(start).rejects.toThrow(TopicsDiffer);
  await expect(start).rejects.toThrow(`${prefix}counted has 2, this version declares 3`);
  const cluster = topicOf('counted', 2, { partitions: { cluster: 12, embedded: 2 } });
  await expect(ensureTopics(kafka, { prefix, embedded: false, topics: [cluster] })).rejects.toThrow('declares 12');
});

test('lag counts from the committed offset, or from the oldest record without one; groups can be deleted', async () => {
  const { kafka, prefix, metrics } = fixture;
  const topic = await fixture.topic('lagging', 2);
  const records = Array.from({ length: 10 }, (_, i) => ({ key: String(i), value: 'v' }));
  await fixture.publisher.publish(topic, records);
  const lag = async () => {
    const partitions = await consumerLag(kafka, { prefix, group: 'lag-group', topics: [topic] });
    return partitions.reduce((sum, one) => sum + one.lag, 0);
  };
  expect(await lag()).toBe(10);
  let handled = 0;
  const consumer = await startBatchConsumer({
    ...fixture,
    group: 'lag-group',
    topics: [topic],
    logger: silentLogger(),
    async handle(batch) {
      handled += batch.records.length;
    },
  });
  await eventually('all handled', () => handled === 10);
  await eventually('lag 0', async () => (await lag()) === 0);
  await consumer.stop();
  await fixture.publisher.publish(topic, records.slice(0, 4));
  expect(await lag()).toBe(4);

  const monitor = startLagMonitor({
    kafka,
    prefix,
    metrics,
    logger: silentLogger(),
    subscriptions: [{ group: 'lag-group', topics: [topic] }],
  });
  await eventually('the gauge', async () => (await metrics.kafkaLag.get()).values[0]?.value === 4);
  await monitor.stop();

  await deleteGroups(kafka, prefix, ['lag-group', 'never-existed']);
  expect(await lag()).toBe(14);
});
