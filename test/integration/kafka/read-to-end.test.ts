import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { handleUnread, readToEnd } from '../../../shared/kafka/topics/read-to-end.ts';
import type { TopicsToRead } from '../../../shared/kafka/topics/read-to-end.ts';
import type { ConsumedBatch } from '../../../shared/kafka/consumed-batch.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterAll(() => fixture.drop());

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
  return listed.groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(fixture.prefix));
}

test('reads what was there at the start, not what is published meanwhile, and leaves no group', async () => {
  const topic = await fixture.topic('whole');
  await publish(topic, 0, 20);
  const values: number[] = [];
  await read(topic, {
    handle: async ({ records }) => {
      if (values.length === 0) await publish(topic, 20, 30);
      values.push(...records.map(({ value }) => Number(value)));
    },
  });
  expect(values).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(await groups()).toEqual([]);
});

test('reads exactly the ranges that it is given', async () => {
  const topic = await fixture.topic('part');
  await publish(topic, 0, 20);
  expect(await read(topic, { ranges: [{ topic, partition: 0, next: 5n, head: 12n }] })).toEqual([
    5, 6, 7, 8, 9, 10, 11,
  ]);
  expect(await read(topic, { ranges: [{ topic, partition: 0, next: 12n, head: 12n }] })).toEqual([]);
});

test('an error of the handler ends the call', async () => {
  const topic = await fixture.topic('failing');
  await publish(topic, 0, 3);
  await expect(read(topic, { handle: () => Promise.reject(new Error('out of paper')) })).rejects.toThrow(
    'out of paper',
  );
  expect(await groups()).toEqual([]);
});

test('ends when no broker answers any more after the ranges were read', async () => {
  const kafka = createKafka({ brokers: [`127.0.0.1:${await freePort()}`], clientId: 'test', logger: silentLogger() });
  const reading = read('gone', {
    kafka,
    ranges: [{ topic: 'gone', partition: 0, next: 0n, head: 1n }],
    silenceMs: 100,
  });
  await expect(reading).rejects.toThrow('nothing of gone arrived in 0.1 s');
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
