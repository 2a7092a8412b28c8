import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { ConsumedRecord } from '../../../shared/kafka/consumed-batch.ts';
import { PublishRefused } from '../../../shared/kafka/publish-errors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterAll(() => fixture.drop());

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
