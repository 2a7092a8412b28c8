import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mendHeartbeats } from '../../../../../shared/kafka/kafkajs-mends/heartbeats.ts';
import kafkajs from 'kafkajs';

interface Group {
  memberId: string;
  coordinator: { heartbeat: () => Promise<void> };
  offsetManager: { commitOffsets: () => Promise<void> };
  commitOffsets(): Promise<void>;
  heartbeat(options: { interval: number }): Promise<void>;
}
type NewGroup = new (options: object) => Group;

const NOON = Date.parse('2026-01-01T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

function newGroup(): Group {
  mendHeartbeats();
  const ConsumerGroup = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as NewGroup;
  const group = new ConsumerGroup({
    retry: {},
    logger: { namespace: () => undefined },
    instrumentationEmitter: { emit: () => undefined },
  });
  group.memberId = 'a member';
  return group;
}

test('heartbeats go on at their interval after the clock was set back', async () => {
  const group = newGroup();
  let sent = 0;
  group.coordinator = { heartbeat: () => Promise.resolve(void (sent += 1)) };
  const beat = () => group.heartbeat({ interval: 3_000 });
  await beat();
  expect(sent).toBe(0);
  vi.setSystemTime(NOON + 3_000);
  await beat();
  expect(sent).toBe(1);
  vi.setSystemTime(NOON - 3_600_000);
  await beat();
  await beat();
  expect(sent).toBe(2);
  vi.setSystemTime(NOON - 3_600_000 + 3_000);
  await beat();
  expect(sent).toBe(3);
});

test('a member that cannot reach the coordinator of its group looks for another one', async () => {
  const group = newGroup();
  const fail = () => Promise.reject(new kafkajs.KafkaJSConnectionError('the broker did not answer'));
  group.coordinator = { heartbeat: fail };
  group.offsetManager = { commitOffsets: fail };
  vi.setSystemTime(NOON + 3_000);
  const answer = { type: 'NOT_COORDINATOR_FOR_GROUP', message: 'the broker did not answer' };
  await expect(group.heartbeat({ interval: 3_000 })).rejects.toMatchObject(answer);
  await expect(group.commitOffsets()).rejects.toMatchObject(answer);
});
