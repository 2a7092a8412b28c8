import kafkajs from 'kafkajs';
import { afterAll, beforeAll, expect, test, describe } from 'vitest';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { startLagMonitor } from '../../../shared/kafka/group-progress.ts';
import { TopicsDiffer, consumerLag, deleteGroups, ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture, topicOf } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { ConsumedRecord, ConsumedBatch } from '../../../shared/kafka/consumed-batch.ts';
import { PublishRefused } from '../../../shared/kafka/kafka-unavailable.ts';
import { handleUnread, readToEnd } from '../../../shared/kafka/read-to-end.ts';
import type { TopicsToRead } from '../../../shared/kafka/read-to-end.ts';

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
  await expect(start).rejects.toThrow(`${prefix}counted has 2, but this version needs 3`);
  const cluster = topicOf('counted', 2, { partitions: { cluster: 12, embedded: 2 } });
  await expect(ensureTopics(kafka, { prefix, embedded: false, topics: [cluster] })).rejects.toThrow('needs 12');
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

describe('the publisher', () => {
  /** Reads `count` records of a topic from its beginning; values are copied. */
  async function readAll(topic: string, count: number): Promise<ConsumedRecord[]> {
    const records: ConsumedRecord[] = [];
    const failed = Promise.withResolvers<never>();
    const consumer = await startBatchConsumer({
      ...fixture,
      group: `read-${topic}`,
      topics: [topic],
      logger: silentLogger(),
      fatal: failed.reject,
      async handle(batch) {
        for (const record of batch.records) records.push({ ...record, value: Buffer.from(record.value) });
      },
    });
    await Promise.race([eventually(`${count} records`, () => records.length >= count), failed.promise]);
    await consumer.stop();
    return records;
  }

  test('500 records of 40 KB with one key arrive complete and in order', async () => {
    const topic = await fixture.topic('large', 4);
    const filler = 'x'.repeat(40_000);
    const sent = Array.from({ length: 500 }, (_, i) => ({ key: 'one', value: `${i}:${filler}` }));
    await fixture.publisher.publish(topic, sent);
    const got = await readAll(topic, sent.length);
    expect(got.length).toBe(sent.length);
    expect(new Set(got.map(({ partition }) => partition)).size).toBe(1);
    expect(got.every(({ value }, i) => value.toString() === sent[i]!.value)).toBe(true);
  });

  test('with many concurrent calls every record arrives once, and each key keeps the order of the calls', async () => {
    const topic = await fixture.topic('calls', 4);
    const calls = Array.from({ length: 300 }, (_, i) =>
      fixture.publisher.publish(topic, [
        { key: `k${i % 7}`, value: String(2 * i) },
        { key: `k${i % 7}`, value: String(2 * i + 1), headers: { h: 'v' } },
      ]),
    );
    await Promise.all(calls);
    const got = await readAll(topic, 600);
    expect(got.map(({ value }) => Number(value.toString())).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 600 }, (_, i) => i),
    );
    for (const records of Map.groupBy(got, ({ key }) => key).values()) {
      const numbers = records.map(({ value }) => Number(value.toString()));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(new Set(records.map(({ partition }) => partition)).size).toBe(1);
    }
    const odd = got.find(({ value }) => value.toString() === '1')!;
    expect(odd.headers.h?.toString()).toBe('v');
    expect(Math.abs(odd.timestampMs - Date.now())).toBeLessThan(60_000);
  });

  test('one call publishes to several topics and counts the records', async () => {
    const [a, b] = [await fixture.topic('several-a'), await fixture.topic('several-b')];
    await fixture.publisher.publishAll([
      { topic: a, records: [{ key: '1', value: 'a' }] },
      { topic: b, records: [{ key: '1', value: 'b' }] },
      { topic: a, records: [{ key: '2', value: 'c' }] },
    ]);
    expect((await readAll(a, 2)).map(({ value }) => value.toString())).toEqual(['a', 'c']);
    expect((await readAll(b, 1)).map(({ value }) => value.toString())).toEqual(['b']);
    const counted = await fixture.metrics.kafkaPublished.get();
    expect(counted.values.find(({ labels }) => labels.topic === a)?.value).toBe(2);
  });

  test('a record that is too large for a batch is refused, and concurrent calls succeed', async () => {
    const topic = await fixture.topic('refused');
    const tooLarge = fixture.publisher.publish(topic, [{ key: 'k', value: Buffer.alloc(5_000_000) }]);
    const fine = fixture.publisher.publish(topic, [{ key: 'k', value: Buffer.alloc(3_000_000, 1) }]);
    await expect(tooLarge).rejects.toThrow(PublishRefused);
    await fine;
    expect((await readAll(topic, 1))[0]!.value.length).toBe(3_000_000);
  });

  test('only the call to a missing topic fails', async () => {
    await expect(fixture.publisher.publish('missing', [{ key: 'k', value: 'v' }])).rejects.toThrow();
    const topic = await fixture.topic('after-missing');
    await fixture.publisher.publish(topic, [{ key: 'k', value: 'v' }]);
    expect(await readAll(topic, 1)).toHaveLength(1);
  });
});

describe('reading a topic to its end', () => {
  async function publish(topic: string, from: number, to: number): Promise<void> {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index);
    await fixture.publisher.publish(
      topic,
      numbers.map((n) => ({ key: 'k', value: String(n) })),
    );
  }

  async function read(topic: string, options: Partial<TopicsToRead> = {}): Promise<number[]> {
    const values: number[] = [];
    await readToEnd({
      ...{ kafka: fixture.kafka, prefix: fixture.prefix, topics: [topic] },
      handle: async ({ records }) => void values.push(...records.map(({ value }) => Number(value))),
      ...options,
    });
    return values;
  }

  async function groups(): Promise<string[]> {
    const listed = await fixture.kafka.withAdmin((admin) => admin.listGroups());
    return listed.groups
      .map(({ groupId }) => groupId)
      .filter((id) => id.startsWith(fixture.prefix))
      .sort();
  }

  test('reads what was there at the start, not what is published meanwhile, and leaves no group', async () => {
    const topic = await fixture.topic('whole');
    await publish(topic, 0, 20);
    const values: number[] = [];
    const before = await groups();
    await read(topic, {
      handle: async ({ records }) => {
        if (values.length === 0) await publish(topic, 20, 30);
        values.push(...records.map(({ value }) => Number(value)));
      },
    });
    expect(values).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(await groups()).toEqual(before);
  });

  test('reads exactly the ranges that it is given', async () => {
    const topic = await fixture.topic('part');
    await publish(topic, 0, 20);
    expect(await read(topic, { ranges: [{ topic, partition: 0, next: 5n, head: 12n }] })).toEqual([
      5, 6, 7, 8, 9, 10, 11,
    ]);
    expect(await read(topic, { ranges: [{ topic, partition: 0, next: 12n, head: 12n }] })).toEqual([]);
  });

  test('handles each record once, also when batches come again and in other lengths', async () => {
    const unread = new Map([['t|0', { topic: 't', partition: 0, next: 0n, head: 300n }]]);
    const handled: bigint[] = [];
    for (const [from, to] of [
      [0, 200],
      [0, 50],
      [50, 310],
    ] as const) {
      const records = Array.from({ length: to - from }, (_, index) => ({ offset: BigInt(from + index) }));
      await handleUnread(unread, { topic: 't', partition: 0, records } as unknown as ConsumedBatch, async (batch) => {
        handled.push(...batch.records.map(({ offset }) => offset));
      });
    }
    expect(handled).toEqual(Array.from({ length: 300 }, (_, offset) => BigInt(offset)));
    expect(unread.size).toBe(0);
  });
});
