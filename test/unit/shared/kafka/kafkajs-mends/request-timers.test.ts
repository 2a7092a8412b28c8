import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mendRequestTimers } from '../../../../../shared/kafka/kafkajs-mends/request-timers.ts';

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: { correlationId: number; payload: string; size: number }): void;
  maybeThrottle(ms: number): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}
type NewQueue = new (options: object) => Queue;

const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
  mendRequestTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function newQueue(isConnected = () => true): Queue {
  const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as NewQueue;
  const logger = { debug: () => undefined, warn: () => undefined };
  return new RequestQueue({
    maxInFlightRequests: null,
    requestTimeout: 12_000,
    enforceRequestTimeout: true,
    logger,
    isConnected,
  });
}

function push(queue: Queue, correlationId: number) {
  const outcome = { sent: false, failed: '' };
  queue.push({
    entry: {
      correlationId,
      apiName: 'Fetch',
      resolve: () => undefined,
      reject: (error: Error) => {
        outcome.failed = error.message;
      },
    },
    expectResponse: true,
    sendRequest: () => {
      outcome.sent = true;
    },
  });
  return outcome;
}

test('requests of all connections time out by one timer, which ends with the last connection', () => {
  const queues = [newQueue(), newQueue(), newQueue()];
  for (const queue of queues) queue.scheduleRequestTimeoutCheck();
  expect(vi.getTimerCount()).toBe(1);
  const early = push(queues[0]!, 1);
  vi.advanceTimersByTime(6_000);
  const late = push(queues[1]!, 1);
  vi.advanceTimersByTime(5_900);
  expect(early.failed).toBe('');
  vi.advanceTimersByTime(400);
  expect(early.failed).toMatch(/timed out/);
  expect(late.failed).toBe('');
  vi.advanceTimersByTime(MINUTE_MS);
  expect(late.failed).toMatch(/timed out/);
  for (const queue of queues) queue.destroy();
  expect(vi.getTimerCount()).toBe(0);
});
