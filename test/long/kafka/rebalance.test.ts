import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { BatchConsumerDeps } from '../../../shared/kafka/batch-runner.ts';
import type { ConsumedBatch } from '../../../shared/kafka/consumed-batch.ts';
import { consumerLag } from '../../../shared/kafka/topic-admin.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterAll(() => fixture.drop());

interface Commit {
  member: string;
  partition: number;
  next: bigint;
}

function member(
  name: string,
  topic: string,
  commits: Commit[],
  options: Pick<BatchConsumerDeps, 'handle'> & Partial<BatchConsumerDeps>,
): Promise<BatchConsumer> {
  return startBatchConsumer({
    ...fixture,
    group: `group-of-${topic}`,
    topics: [topic],
    logger: silentLogger(),
    onCommitted: (_, partition, next) => void commits.push({ member: name, partition, next }),
    ...options,
  });
}

/** Checks that the commits of each partition only move forward, whichever member makes them. */
function expectForward(commits: readonly Commit[]): void {
  for (const made of Map.groupBy(commits, ({ partition }) => partition).values()) {
    const offsets = made.map(({ next }) => next);
    expect(offsets).toEqual(offsets.toSorted((a, b) => Number(a - b)));
    expect(new Set(offsets).size).toBe(offsets.length);
  }
}

function lag(topic: string): Promise<number> {
  return consumerLag(fixture.kafka, { ...fixture, group: `group-of-${topic}`, topics: [topic] }).then((partitions) =>
    partitions.reduce((sum, one) => sum + one.lag, 0),
  );
}

test('while members join and leave, every record is handled and commits only move forward', async () => {
  const topic = await fixture.topic('come-and-go', 4);
  const handled = new Map<number, Set<string>>();
  const commits: Commit[] = [];
  const join = (name: string) =>
    member(name, topic, commits, {
      maxRecords: 20,
      partitionsConcurrently: 2,
      async handle(batch) {
        await wait(10);
        if (!batch.isCurrent()) return;
        for (const { value } of batch.records) {
          const number = Number(value.toString());
          handled.set(number, (handled.get(number) ?? new Set()).add(name));
        }
      },
    });
  let published = 0;
  const enough = new AbortController();
  const publishing = (async () => {
    while (!enough.signal.aborted) {
      const records = Array.from({ length: 50 }, () => ({ key: `k${published}`, value: String(published++) }));
      await fixture.publisher.publish(topic, records);
      await wait(50);
    }
  })();
  const first = await join('first');
  await eventually('the first works', () => handled.size > 300);
  const second = await join('second');
  await eventually('both work', () => commits.some((commit) => commit.member === 'second'));
  await wait(500);
  const third = await join('third');
  await eventually('three work', () => commits.some((commit) => commit.member === 'third'));
  await first.stop();
  await wait(500);
  enough.abort();
  await publishing;
  await eventually('everything is handled', () => handled.size === published);
  await eventually('lag 0', async () => (await lag(topic)) === 0);
  await Promise.all([second.stop(), third.stop()]);
  expectForward(commits);
});

test('a member that exceeds the rebalance timeout does not commit, and continues after it has joined again', async () => {
  const topic = await fixture.topic('overstay', 2);
  const commits: Commit[] = [];
  const records = Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, value: String(i) }));
  await fixture.publisher.publish(topic, records);

  const admissionControl = Promise.withResolvers<undefined>();
  let inHand: ConsumedBatch | undefined;
  const times = { sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 6_000 };
  const slow = await member('slow', topic, commits, {
    ...times,
    async handle(batch) {
      if (inHand) return;
      inHand = batch;
      await admissionControl.promise;
    },
  });
  await eventually('a batch in hand', () => inHand !== undefined);
  const handled = new Set<string>();
  const quick = await member('quick', topic, commits, {
    ...times,
    async handle(batch) {
      for (const { value } of batch.records) handled.add(value.toString());
    },
  });
  await eventually('the other member has taken everything', () => handled.size === 20);
  await eventually('committed by the other', async () => (await lag(topic)) === 0);
  await eventually('the loss is noticed', () => inHand!.signal.aborted);
  expect(inHand!.isCurrent()).toBe(false);
  expect(commits.map((commit) => commit.member)).not.toContain('slow');
  const before = commits.length;
  admissionControl.resolve(undefined);
  await wait(300);
  expect(commits.length).toBe(before);

  await quick.stop();
  await fixture.publisher.publish(topic, records);
  await eventually('the slow one goes on alone', async () => (await lag(topic)) === 0);
  expect(commits.at(-1)!.member).toBe('slow');
  expectForward(commits);
  await slow.stop();
});

test('a handler that takes longer than the session keeps its partition by heartbeats', async () => {
  const topic = await fixture.topic('slow');
  await fixture.publisher.publish(topic, [{ key: 'k', value: '0' }]);
  const commits: Commit[] = [];
  let calls = 0;
  const consumer = await member('only', topic, commits, {
    sessionTimeoutMs: 10_000,
    async handle() {
      calls++;
      await wait(13_000);
    },
  });
  await eventually('committed', () => commits.length > 0);
  expect([calls, consumer.ready(), commits[0]!.next]).toEqual([1, true, 1n]);
  await consumer.stop();
});
