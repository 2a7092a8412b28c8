import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { startTopicKeyListener } from '../../../shared/kafka/topic-key-listener.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await createKafkaFixture();
});
afterAll(() => fixture.drop());

async function start(topic: string, handled: string[]) {
  const consumer = await startBatchConsumer({
    ...fixture,
    group: 'group',
    topics: [topic],
    logger: silentLogger(),
    handle: ({ records }) => {
      handled.push(...records.map(({ value }) => value.toString()));
      return Promise.resolve();
    },
  });
  await eventually('the consumer is ready', () => consumer.ready());
  return consumer;
}

test('a consumer that waits for records leaves its group when it stops, and the next one gets the records that come then', async () => {
  const topic = await fixture.topic('quiet');
  const handled: string[] = [];
  const first = await start(topic, handled);
  await fixture.publisher.publish(topic, [{ key: 'k', value: 'before' }]);
  // A stop between the two would repeat the record.
  await eventually('the record is handled and committed', async () => {
    const [committed] = await fixture.kafka.withAdmin((admin) =>
      admin.fetchOffsets({ groupId: `${fixture.prefix}group`, topics: [fixture.prefix + topic] }),
    );
    return committed?.partitions.some(({ offset }) => offset === '1');
  });
  await first.stop();
  await fixture.publisher.publish(topic, [{ key: 'k', value: 'after' }]);
  // It has left the group, so the next member need not wait until its session ends.
  const second = await start(topic, handled);
  await eventually('the next record is handled', () => handled.length === 2);
  await second.stop();
  expect(handled).toEqual(['before', 'after']);
});

test('listeners that are stopped while they join do not stay in their groups', async () => {
  const topic = await fixture.topic('early');
  const stopAfter = async (ms: number) => {
    const deps = {
      ...fixture,
      topics: [topic],
      logger: silentLogger(),
      onKey: () => undefined,
      onGap: () => undefined,
    };
    const listener = startTopicKeyListener({ ...deps, group: `early-${ms}` });
    await wait(ms);
    // On a slow machine some do not end in time; they leave later.
    await listener.stop().catch(() => undefined);
  };
  // Together they take half a second to join.
  await Promise.all(Array.from({ length: 50 }, (_, at) => stopAfter(at * 10)));
  const members = () =>
    fixture.kafka.withAdmin(async (admin) => {
      const { groups } = await admin.listGroups();
      const early = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${fixture.prefix}early-`));
      const described = early.length === 0 ? [] : (await admin.describeGroups(early)).groups;
      return described.flatMap((group) => group.members);
    });
  // One whose stop did not wait leaves by itself, and is expelled at the end of its session otherwise.
  await eventually('no group has a member', async () => (await members()).length === 0);
});
