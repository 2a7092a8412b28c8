import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BatchRunner } from '../../../../shared/kafka/batch-runner.ts';
import { GroupAssignment } from '../../../../shared/kafka/group-assignment.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const OWNED = { ownsPartition: () => true, isCurrent: () => true };
const PARTITIONS = [0, 1, 2, 3];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function payloadOf(partition: number): EachBatchPayload {
  const message = { key: null, value: Buffer.from('v'), offset: '0', timestamp: '0', headers: {} } as KafkaMessage;
  const batch = { topic: 'topic', partition, messages: [message], highWatermark: '1' };
  return { batch, heartbeat: () => Promise.resolve() } as unknown as EachBatchPayload;
}

/** Each partition has one record; the handler fails with what `failureOf` returns. */
function createRunner(failureOf: () => Error) {
  const runner = new BatchRunner({
    ...{ prefix: '', group: 'group', topics: ['topic'], metrics: createMetrics(), logger: silentLogger() },
    clock: () => 0,
    handle: () => Promise.reject<undefined>(failureOf()),
    isRetryable: () => true,
    fatal: (error) => expect.fail(String(error)),
  });
  const assignment = new GroupAssignment(PARTITIONS.map((partition) => ({ topic: 'topic', partition })));
  assignment.ready = Promise.resolve(true);
  let ended = 0;
  const runAll = () => {
    for (const partition of PARTITIONS) {
      void runner.run(payloadOf(partition), assignment, OWNED).finally(() => (ended += 1));
    }
  };
  return { runAll, ended: () => ended };
}

/** How many have ended when so much time has passed. */
async function endedAfter(ms: number, ended: () => number): Promise<number> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise((resolve) => setImmediate(resolve));
  return ended();
}

test('partitions that failed with the same error count as one failure, and wait as long as one', async () => {
  let error = new Error('the shared transaction failed');
  const { runAll, ended } = createRunner(() => error);
  runAll();
  expect(await endedAfter(199, ended)).toBe(0);
  expect(await endedAfter(1, ended)).toBe(4);
  error = new Error('it failed again');
  runAll();
  expect(await endedAfter(399, ended)).toBe(4);
  expect(await endedAfter(1, ended)).toBe(8);
});

test('each failure of its own makes the next wait longer', async () => {
  const { runAll, ended } = createRunner(() => new Error('failed'));
  runAll();
  expect(await endedAfter(200, ended)).toBe(1);
  expect(await endedAfter(200, ended)).toBe(2);
  expect(await endedAfter(400, ended)).toBe(3);
  expect(await endedAfter(800, ended)).toBe(4);
});
