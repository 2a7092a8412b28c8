import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mendRequestTimers } from '../../../../../shared/kafka/kafkajs-mends/request-timers.ts';

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: { correlationId: number; payload: string; size: number }): void;
  maybeThrottle(ms: number): void;
}
type NewQueue = new (options: object) => Queue;

beforeEach(() => {
  vi.useFakeTimers();
  mendRequestTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a connection has a timer only while requests of a slowed client wait to be sent', () => {
  const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as NewQueue;
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
