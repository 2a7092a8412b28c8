import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { heartbeatAfterClockStep } from '../../../../../shared/kafka/kafkajs-mends/heartbeat-after-clock-step.ts';

interface Group {
  memberId: string;
  coordinator: { heartbeat: () => Promise<void> };
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

test('heartbeats go on at their interval after the clock was set back', async () => {
  heartbeatAfterClockStep();
  const ConsumerGroup = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as NewGroup;
  const group = new ConsumerGroup({
    retry: {},
    logger: { namespace: () => undefined },
    instrumentationEmitter: { emit: () => undefined },
  });
  let sent = 0;
  group.memberId = 'a member';
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
