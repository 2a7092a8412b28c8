import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumerDeps } from '../../../shared/kafka/batch-consumer-deps.ts';
import type { ConsumedRecord } from '../../../shared/kafka/consumed-batch.ts';
import { DeadLetters, TooManyDeadLetters } from '../../../shared/kafka/dead-letters.ts';
import type { DeadLetterLimits } from '../../../shared/kafka/dead-letters.ts';
import { PoisonMessage, parseRecords } from '../../../shared/kafka/poison-message.ts';
import { replayDeadLetters } from '../../../shared/kafka/stored-letters/replay-dead-letters.ts';
import { consumerLag } from '../../../shared/kafka/topics/topic-admin.ts';
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
])('too many unreadable records %s stop the consumer before the topic is drained', async (name, limits, isBad) => {
  const topic = await fixture.topic(`too-many-${name.replaceAll(' ', '-')}`);
  const records = Array.from({ length: 200 }, (_, n) => ({ key: 'k', value: isBad(n) ? 'garbled' : `{"n":${n}}` }));
  await fixture.publisher.publish(topic, records);
  const fatal: Error[] = [];
  const options = {
    maxRecords: 10,
    fatal: (error: Error) => void fatal.push(error),
    handle: async (batch: Parameters<BatchConsumerDeps['handle']>[0]) => ({
      poison: parseRecords(numbered, batch).poison,
    }),
  };
  await start(topic, options, limits);
  await eventually('fatal', () => fatal.length > 0);
  expect(fatal[0]).toBeInstanceOf(TooManyDeadLetters);
  const [letters] = await fixture.kafka.withAdmin((admin) =>
    admin.fetchTopicOffsets(`${fixture.prefix}${topic}.dead-letter`),
  );
  expect(Number(letters!.high)).toBeLessThanOrEqual(5);
});

test('replay publishes the original records, up to its limit, and resumes where it ended', async () => {
  const topic = await fixture.topic('replayed');
  const letters = [0, 1, 2, 3, 4].map((n) => ({
    key: `k${n}`,
    value: Buffer.from([n]),
    headers: { trace: `t${n}`, 'dead-letter-topic': topic, 'dead-letter-reason': 'x' },
  }));
  await fixture.publisher.publish(`${topic}.dead-letter`, letters);
  const replay = (limit: number) => replayDeadLetters({ ...fixture, topic, limit, logger: silentLogger() });
  expect(await replay(2)).toEqual({ replayed: 2, setAsideAgain: 0, remaining: 3 });
  expect(await replay(100)).toEqual({ replayed: 3, setAsideAgain: 0, remaining: 0 });
  expect(await replay(100)).toEqual({ replayed: 0, setAsideAgain: 0, remaining: 0 });
  const back: ConsumedRecord[] = [];
  await start(topic, { handle: async (batch) => void back.push(...batch.records) });
  await eventually('all back', () => back.length >= 5);
  expect(back.map(({ key, value }) => [key, value[0]])).toEqual([0, 1, 2, 3, 4].map((n) => [`k${n}`, n]));
  expect(back.map(headersOf)).toEqual([0, 1, 2, 3, 4].map((n) => ({ trace: `t${n}` })));
});
