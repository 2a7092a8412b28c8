import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endFetchesAtStop } from '../../../../../shared/kafka/kafkajs-mends/end-fetches-at-stop.ts';

interface Runner {
  start(): Promise<void>;
  stop(): Promise<void>;
}
type NewRunner = new (options: object) => Runner;

const silent = { namespace: () => silent, debug: () => undefined, info: () => undefined, warn: () => undefined };

/** A runner of kafkajs whose broker never answers a fetch, and what became of it. */
function createRunner() {
  endFetchesAtStop();
  const Runner = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as NewRunner;
  const outcome = { fetches: 0, left: false, crashes: 0, isSocketClosed: false };
  const inflight = new Map<number, (error: Error) => void>();
  const fetching = {
    requestQueue: { inflight },
    socket: { destroy: () => (outcome.isSocketClosed = true) },
    rejectRequests: (error: Error) => {
      for (const reject of inflight.values()) reject(error);
      inflight.clear();
    },
  };
  const others = { ...fetching, rejectRequests: () => expect.fail('other requests were ended') };
  const consumerGroup = {
    cluster: { brokerPool: { brokers: { 1: { connectionPool: { pool: [others, fetching] } } } } },
    connect: () => Promise.resolve(),
    joinAndSync: () => Promise.resolve(),
    heartbeat: () => Promise.resolve(),
    getNodeIds: () => ['1'],
    leave: () => Promise.resolve(void (outcome.left = true)),
    fetch: () => new Promise((_, reject) => inflight.set((outcome.fetches += 1), reject)),
  };
  const runner = new Runner({
    ...{ logger: silent, consumerGroup, concurrency: 1, heartbeatInterval: 1_000 },
    instrumentationEmitter: { emit: () => undefined },
    retry: { initialRetryTime: 10, maxRetryTime: 20, retries: 0, factor: 0.2, multiplier: 2 },
    onCrash: () => (outcome.crashes += 1),
  });
  return { runner, outcome, fail: fetching.rejectRequests };
}

test('a stop gives up the fetch under way, leaves the group, and is no crash', async () => {
  const { runner, outcome } = createRunner();
  await runner.start();
  await expect.poll(() => outcome.fetches).toBe(1);
  await Promise.race([runner.stop(), wait(5_000).then(() => expect.fail('the stop waits for the broker'))]);
  expect(outcome).toEqual({ fetches: 1, left: true, crashes: 0, isSocketClosed: true });
});

test('the error of a fetch of a running consumer is still seen', async () => {
  const { runner, outcome, fail } = createRunner();
  await runner.start();
  await expect.poll(() => outcome.fetches).toBe(1);
  fail(new Error('the connection was lost'));
  await expect.poll(() => outcome.crashes).toBe(1);
});
