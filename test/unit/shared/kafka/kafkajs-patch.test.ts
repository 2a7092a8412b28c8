import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: { correlationId: number; payload: string; size: number }): void;
  maybeThrottle(ms: number): void;
}

interface Group {
  memberId: string;
  lastRequest: number;
  coordinator: { heartbeat: () => Promise<void> };
  offsetManager: { commitOffsets: () => Promise<void> };
  commitOffsets(): Promise<void>;
  heartbeat(options: { interval: number }): Promise<void>;
}

const require = createRequire(import.meta.url);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a connection has a timer only while requests of a slowed client wait to be sent', () => {
  const RequestQueue = require('kafkajs/src/network/requestQueue/index.js') as new (options: object) => Queue;
  const logger = { debug: () => undefined, warn: () => undefined };
  const queue = new RequestQueue({ maxInFlightRequests: null, enforceRequestTimeout: false, logger });
  const push = (correlationId: number) => {
    const sendRequest = vi.fn();
    const entry = { correlationId, resolve: () => undefined };
    queue.push({ entry, expectResponse: true, sendRequest });
    return sendRequest;
  };
  expect(push(1)).toHaveBeenCalledOnce();
  queue.fulfillRequest({ correlationId: 1, payload: '', size: 0 });
  expect(vi.getTimerCount()).toBe(0);
  queue.maybeThrottle(500);
  const slowed = push(2);
  expect(slowed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(600);
  expect(slowed).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test('a member that cannot reach the coordinator of its group looks for another one', async () => {
  const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup.js') as new (options: object) => Group;
  const group = new ConsumerGroup({ retry: {}, logger: { namespace: () => undefined } });
  const fail = () => Promise.reject(new kafkajs.KafkaJSConnectionError('the broker did not answer'));
  Object.assign(group, {
    memberId: 'a member',
    lastRequest: 0,
    coordinator: { heartbeat: fail },
    offsetManager: { commitOffsets: fail },
  });
  const answer = { type: 'NOT_COORDINATOR_FOR_GROUP', message: 'the broker did not answer' };
  await expect(group.heartbeat({ interval: 3_000 })).rejects.toMatchObject(answer);
  await expect(group.commitOffsets()).rejects.toMatchObject(answer);
});

test('a consumer that stops while the brokers change ends without an error, and leaves the thread free', () => {
  const main = join(import.meta.dirname, '../../../support/children/stopping-consumer.ts');
  // A process of its own, which can be killed when its thread is busy for ever.
  const { stdout, signal } = spawnSync(process.execPath, [main], {
    encoding: 'utf8',
    timeout: 90_000,
    killSignal: 'SIGKILL',
  });
  expect(signal).toBeNull();
  expect(JSON.parse(stdout)).toEqual({ stopped: true, crashes: 0 });
});
